import type { Asked } from '../../../support/models/provider';
import { aPresetsFile } from '../commands-under-test';
import { aProviderWithCatalog } from '../models-under-test';
import { aRunClient, type RunClient } from '../runs/run-client';
import { startServiceUnderTest, type WorkflowRunsUnderTest } from '../service-under-test';

describe('the configuration of a run', () => {
  let service: WorkflowRunsUnderTest;
  let runs: RunClient;
  let models: Awaited<ReturnType<typeof aProviderWithCatalog>>;
  let files: Awaited<ReturnType<typeof aPresetsFile>>;
  beforeAll(async () => {
    models = await aProviderWithCatalog();
    files = await aPresetsFile();
    service = await startServiceUnderTest({ ...models.settings, ...files.settings });
    runs = aRunClient(service);
  });
  afterAll(async () => {
    await service.close();
    await files.close();
    await models.close();
  });

  const graph = (...nodes: string[]) =>
    `digraph { start -> ${nodes.map((_node, at) => `n${at}`).join(' -> ')} -> exit; ${nodes.map((node, at) => `n${at} [${node}]`).join('; ')} }`;
  const create = (dot_source: string, fields: object) => service.call('POST', '/runs', { dot_source, ...fields });
  const list = 'type=command, command="cat /proc/net/dev"';

  it('has the model and the fallbacks of prompts that name none', async () => {
    const asked: Asked[] = [];
    models.provider.answers((request) => {
      asked.push(request);
      return ['An answer.'];
    });
    const llm = { model: 'nowhere', fallbacks: ['quick'] };
    const own = 'prompt="Own", model="tiny"';
    const { status, body } = await create(graph('prompt="Usual", max_retries=0', own), { llm });
    expect(status).toBe(201);
    await runs.untilStatus(body.id, 'completed');
    expect(asked.map((request) => request.body.model)).toEqual(['small', 'tiny']);
    expect(await runs.events(body.id)).toContainEqual({
      StageFallback: { stage_id: 'n0', model: 'quick', error: expect.any(String) },
    });
    expect(await runs.get(`/runs/${body.id}/configuration`)).toMatchObject({
      llm: { model: 'nowhere', provider: 'nowhere', fallbacks: ['quick'] },
    });
  });

  it('has the sandbox and the directory of commands that set none, and of its setup', async () => {
    const placed = { sandbox: 'open', directory: 'deep/er' };
    const setup = { commands: [['mkdir', '-p', 'deep/er']] };
    // The directory has to be there before the setup is run in it.
    const missing = await create(graph(list), { ...placed, setup });
    expect(await runs.untilStatus(missing.body.id, 'failed')).toMatchObject({
      error: { message: expect.stringContaining('deep/er is not in the workspace') },
    });
    const make = 'type=command, command="mkdir -p deep/er", directory="."';
    const { body } = await create(graph(make, 'type=command, command=pwd', list, `${list}, sandbox=closed`), placed);
    await runs.untilStatus(body.id, 'completed');
    const { n1_output, n2_output, n3_output } = await runs.get(`/runs/${body.id}/context`);
    expect(n1_output).toMatch(/\/deep\/er$/);
    expect(n2_output.split('\n').length).toBeGreaterThan(n3_output.split('\n').length);
    expect(await runs.get(`/runs/${body.id}/configuration`)).toMatchObject(placed);
  });

  it.each([
    ['a model that there is not', graph('prompt=x'), { llm: { model: 'lost' } }, 'llm.model'],
    [
      'a fallback that there is not',
      graph('prompt=x'),
      { llm: { model: 'tiny', fallbacks: ['lost'] } },
      'llm.fallbacks.0',
    ],
    ['another provider', graph('prompt=x'), { llm: { model: 'tiny', provider: 'openai' } }, 'llm.provider'],
    ['a model for no prompt', graph(list), { llm: { model: 'tiny' } }, 'llm'],
    ['a preset that there is not', graph(list), { sandbox: 'lost' }, 'sandbox'],
    ['a preset for no command', graph('prompt=x'), { sandbox: 'open' }, 'sandbox'],
    ['a directory for no command', graph('prompt=x'), { directory: 'x' }, 'directory'],
    ['a directory elsewhere', graph(list), { directory: '../x' }, 'directory'],
    ['an absolute directory', graph(list), { directory: '/tmp' }, 'directory'],
  ])('with %s is refused', async (_case, dot, fields, field) => {
    expect(await create(dot, fields)).toMatchObject({
      status: 400,
      body: { errors: [{ detail: expect.stringMatching(new RegExp(`^${field.replaceAll('.', '\\.')}: `)) }] },
    });
  });

  it('with hooks, which are not served, is refused by their name', async () => {
    const refused = await create(graph('prompt=x'), { hooks: [] });
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ detail: expect.stringContaining('hooks') }] } });
  });
});
