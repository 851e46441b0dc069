import { repeatingRuns } from './repeating-runs';

const { start, get, untilStatus, question, answer, eventsOf, models, service } = repeatingRuns();

/** A text whose character of two units begins at the last of so many. */
const splitAt = (length: number): string => `${'x'.repeat(length - 1)}😀 and more`;

describe('texts that a run cuts', () => {
  it('end with a whole character among its values, which later prompts are sent', async () => {
    const text = splitAt(8_000 - 'said: '.length);
    const { body } = await service().call('POST', '/runs', {
      dot_source: 'digraph { start -> a -> b -> exit; a [prompt="${text}"]; b [prompt="${a_output}"] }',
      vars: { text: text.slice(0, -' and more'.length) },
    });
    await untilStatus(body.id, 'completed');
    const cut = `said: ${text.slice(0, -'😀 and more'.length)}`;
    expect((await get(`/runs/${body.id}/context`)).a_output).toBe(cut);
    const asked = JSON.stringify(models().provider.asked.at(-1)?.body.messages);
    expect(asked).toContain(`${cut}"`);
  });

  it.each([
    ['notes of a stage', 200],
    ['events', 1_000],
  ])('end with a whole character in %s', async (_case, length) => {
    const id = await start('digraph { start -> a -> exit; a [shape=hexagon] }');
    const { id: asked } = await question(id);
    await answer(id, asked, { value: splitAt(length) });
    await untilStatus(id, 'completed');
    const answers = JSON.stringify([await get(`/runs/${id}/stages`), await eventsOf(id, '0')]);
    expect(answers).toContain(`"${'x'.repeat(length - 1)}"`);
    expect(answers).not.toMatch(/\\ud83d/);
  });

  it('end with a whole character in the title and the labels of a graph', async () => {
    const id = await start(`digraph { goal="${splitAt(200)}"; label="${splitAt(200)}"; start -> a -> exit
      a [type=wait, duration="1ms", label="${splitAt(200)}"] }`);
    const run = await untilStatus(id, 'completed');
    expect(run.title).toBe('x'.repeat(199));
    expect(run.workflow.name).toBe('x'.repeat(199));
    expect((await get(`/runs/${id}/stages`)).data[1].name).toBe('x'.repeat(199));
  });
});
