import { repeatingRuns } from './repeating-runs';

const { start, get, untilStatus, eventsOf, models, service } = repeatingRuns();

describe('the budget of a run', () => {
  const twice = (budget: string): string =>
    `digraph { ${budget}; start -> a -> b -> exit; a [prompt="one"]; b [prompt="two"] }`;

  it.each([
    ['tokens', 'budget_tokens=1000', /^It has used 1050 of 1000 tokens, so that b is not asked\.$/],
    ['cost', 'budget_cost="0.005"', /^It has used \$0\.0\d+ of \$0\.005, so that b is not asked\.$/],
  ])('of %s is not exceeded by a further prompt', async (_case, budget, message) => {
    const id = await start(twice(budget));
    expect(await untilStatus(id, 'failed')).toMatchObject({ error: { message: expect.stringMatching(message) } });
    expect((await get(`/runs/${id}/stages`)).data).toHaveLength(2);
    expect(models().provider.asked.filter(({ body }) => JSON.stringify(body).includes('two'))).toEqual([]);
  });

  it('that is large enough changes nothing', async () => {
    await untilStatus(await start(twice('budget_tokens=1051; budget_cost=10; budget_time="1h"')), 'completed');
  });

  it('of cost is refused for a model without prices', async () => {
    const dot_source = 'digraph { budget_cost=1; start -> a -> exit; a [prompt="one", model=tiny] }';
    expect(await service().call('POST', '/runs', { dot_source })).toMatchObject({
      status: 400,
      body: {
        errors: [{ detail: 'Node "a": tiny has no prices in the catalog, so that budget_cost would not be kept.' }],
      },
    });
  });

  it('of time ends a run that waits', async () => {
    const id = await start('digraph { budget_time="300ms"; start -> ask -> exit; ask [shape=hexagon] }');
    expect(await untilStatus(id, 'failed')).toMatchObject({
      error: { message: 'The time that its budget allows is over.' },
    });
    expect(await get(`/runs/${id}/questions`)).toMatchObject({ data: [] });
  });
});

describe('fallback models', () => {
  const asking = (attributes: string): string =>
    `digraph { start -> ask -> exit; ask [prompt="Hi", max_retries=1, retry_delay="10ms", ${attributes}] }`;
  const failFor = (model: string, status: number): void =>
    models().provider.answers(({ body }) => (body.model === model ? { status, body: {} } : ['well']));

  it.each([
    ['after the attempts of the first', 503, 2],
    ['at once when it refuses', 400, 1],
  ])('are asked %s', async (_case, status, attempts) => {
    const before = models().provider.asked.length;
    failFor('small', status);
    const id = await start(asking('model=small, fallback_models="nowhere, org/claude"'));
    const events = await eventsOf(id);
    const fallbacks = events.flatMap(({ event }) => (event.StageFallback ? [event.StageFallback] : []));
    expect(fallbacks).toMatchObject([{ model: 'nowhere' }, { model: 'org/claude' }]);
    await untilStatus(id, 'completed');
    expect((await get(`/runs/${id}/stages`)).data[1]).toMatchObject({ status: 'completed', model: 'org/claude' });
    expect(models().provider.asked.length - before).toBe(attempts + 1);
  });

  it('fail the stage with the last of them', async () => {
    models().provider.answers(() => ({ status: 400, body: { error: { message: 'no' } } }));
    const id = await start(asking('model=small, fallback_models="tiny"'));
    await untilStatus(id, 'failed');
  });

  it('are refused when the catalog has not all of them', async () => {
    const refusal = await service().call('POST', '/runs', { dot_source: asking('fallback_models="small, other"') });
    expect(refusal).toMatchObject({
      status: 400,
      body: { errors: [{ detail: 'Node "ask": Model not found: other' }] },
    });
  });
});
