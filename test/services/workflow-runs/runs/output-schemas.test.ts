import { aPresetsFile } from '../commands-under-test';
import { startWithModels, type WithModels } from '../models-under-test';
import { runClient } from '../run-client';
import { startServiceUnderTest } from '../service-under-test';

let models: WithModels;
let file: Awaited<ReturnType<typeof aPresetsFile>>;
beforeAll(async () => {
  file = await aPresetsFile();
  models = await startWithModels(file.settings);
});
afterAll(async () => {
  await models.close();
  await file.close();
});
const { start, get, untilStatus } = runClient(() => models.service);

const schema = JSON.stringify({
  type: 'object',
  required: ['score'],
  properties: { score: { type: 'number', maximum: 1 } },
}).replaceAll('"', '\\"');
const review = (attributes = ''): string =>
  `digraph { start -> review; review [prompt="Rate it", max_retries=0, output_schema="${schema}"${attributes}]
    review -> exit [condition="review_output.score > 0.5"]; review -> again [condition="!(review_output.score > 0.5)"]
    again [prompt="It has \${review_output.score}"]; again -> exit }`;

describe('an output with a schema', () => {
  it('of a model is JSON that fits, whose fields conditions and prompts have', async () => {
    models.provider.answers(() => ['{"score": 0.25}']);
    const id = await start(review());
    await untilStatus(id, 'completed');
    expect(await get(`/runs/${id}/context`)).toMatchObject({ review_output: { score: 0.25 } });
    expect((await get(`/runs/${id}/stages/again/turns`)).data[0].content).toBe('It has 0.25');
  });

  it('of a model may be a number with an exponent, which conditions compare', async () => {
    models.provider.answers(() => ['{"score": 1e-7}']);
    const id = await start(review().replaceAll('> 0.5', '< 0.5'));
    await untilStatus(id, 'completed');
    const { data } = await get(`/runs/${id}/stages`);
    expect(data.map((stage: { id: string }) => stage.id)).toEqual(['start', 'review', 'exit']);
  });

  it('of a model that does not fit is asked for once more, and is then a failed attempt', async () => {
    const answers = ['high', '{"score": 1}', 'high', '{"score": 2}', '{"score": 0.75}'];
    models.provider.answers(() => [answers.shift()!]);
    const mended = await start(review());
    await untilStatus(mended, 'completed');
    expect(await get(`/runs/${mended}/context`)).toMatchObject({ review_output: { score: 1 } });
    const retried = await start(review(', max_retries=1, retry_delay="10ms"').replace('max_retries=0, ', ''));
    await untilStatus(retried, 'completed');
    expect((await get(`/runs/${retried}/stages`)).data[1]).toMatchObject({ retries: 1 });
    models.provider.answers(() => ['high']);
    const strict = `digraph { start -> a -> exit; a [prompt="Rate it", max_retries=0, output_schema="${schema}"] }`;
    expect(await untilStatus(await start(strict), 'failed')).toMatchObject({
      error: { message: expect.stringMatching(/does not fit the schema, also when asked again: it is not JSON/) },
    });
  });

  it.each([
    ['nested too deep', `${'['.repeat(2_000)}${']'.repeat(2_000)}`, /It is nested more than 64 levels deep\./],
    ['with NUL in a name', '{"a\\u0000": 1}', /It contains NUL\./],
    ['with the name of a prototype', '{"__proto__": {}}', /It has a field with the name __proto__\./],
  ])('of a model that is JSON %s does not fit, and the run ends', async (_case, answer, message) => {
    models.provider.answers(() => [answer]);
    const asked = 'digraph { start -> a -> exit; a [prompt="Hi", max_retries=0, output_schema="{}"] }';
    const id = await start(asked);
    expect(await untilStatus(id, 'failed')).toMatchObject({ error: { message: expect.stringMatching(message) } });
    expect(await get(`/runs/${id}/context`)).toEqual({});
  });

  it('beyond all that the values of a run may have fails its stage, and is none of them', async () => {
    const texts = ['a', 'b', 'c'].map((text) => JSON.stringify(text.repeat(60_000)));
    models.provider.answers(() => [texts.shift() ?? '"short"']);
    const node = (id: string): string => `${id} [prompt="Hi", max_retries=0, output_schema="{}"]`;
    const id = await start(
      `digraph { start -> a -> b -> c; ${['a', 'b', 'c', 'e'].map(node).join('; ')}; c -> e [condition="outcome=fail"]; e -> exit }`,
    );
    await untilStatus(id, 'completed');
    const context = await get(`/runs/${id}/context`);
    expect(Object.keys(context)).toEqual(['a_output', 'last_output', 'b_output', 'e_output']);
    expect(context).toMatchObject({ e_output: 'short', last_output: 'short' });
  });

  it('of a model has whole characters alone', async () => {
    models.provider.answers(() => ['{"text": "\\ud83d and \\\\u0000"}']);
    const id = await start('digraph { start -> a -> exit; a [prompt="Hi", output_schema="{}"] }');
    await untilStatus(id, 'completed');
    expect(await get(`/runs/${id}/context`)).toMatchObject({ a_output: { text: '\ufffd and \\u0000' } });
  });

  it('of a command is JSON that fits, or the command has failed', async () => {
    const command = (text: string): string =>
      `digraph { start -> c -> exit; c [type=command, output_schema="${schema}", command="echo '${text}'"] }`;
    const id = await start(command('{\\"score\\": 1}'));
    await untilStatus(id, 'completed');
    expect(await get(`/runs/${id}/context`)).toMatchObject({ c_output: { score: 1 }, c_exit_code: 0 });
    expect(await untilStatus(await start(command('{\\"score\\": 3}')), 'failed')).toMatchObject({
      error: { message: 'Its output does not fit the schema: /score must be <= 1' },
    });
  });

  it.each([
    ['that is none', 'output_schema="{\\"type\\": \\"thing\\"}"', /^Node "a": output_schema: /],
    ['that is elsewhere', 'output_schema="{\\"$ref\\": \\"http://127.0.0.1/x\\"}"', /^Node "a": output_schema: /],
  ])('is refused with a schema %s', async (_case, attributes, detail) => {
    const dot_source = `digraph { start -> a -> exit; a [prompt="Hi", ${attributes}] }`;
    expect(await models.service.call('POST', '/runs', { dot_source })).toMatchObject({
      status: 400,
      body: { errors: [{ detail: expect.stringMatching(detail) }] },
    });
  });

  it('is refused for a model that is not called', async () => {
    const dry = await startServiceUnderTest();
    try {
      expect(await dry.call('POST', '/runs', { dot_source: review() })).toMatchObject({
        status: 400,
        body: { errors: [{ detail: expect.stringContaining('fits no output_schema') }] },
      });
    } finally {
      await dry.close();
    }
  });
});
