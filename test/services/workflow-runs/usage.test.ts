import { createUsageTotals } from '../../../services/workflow-runs/usage/totals';
import { startServiceUnderTest, type WorkflowRunsUnderTest } from './service-under-test';
import { aStage, openStoredRuns, type StoredRuns } from './stored-runs';

let service: WorkflowRunsUnderTest;
let stored: StoredRuns;
describe('workflow-run usage API', () => {
  beforeEach(async () => {
    service = await startServiceUnderTest();
    stored = await openStoredRuns(service);
  });
  afterEach(async () => {
    await stored.database.close();
    await service.close();
  });

  const used = (input_tokens: number, output_tokens: number, cost: number) => ({ input_tokens, output_tokens, cost });
  const stages = [
    aStage({ id: 'plan', name: 'Plan', model: 'large', usage: used(100, 10, 0.1), duration_secs: 2 }),
    aStage({ id: 'check', name: 'Check', kind: 'tool', duration_secs: 60 }),
    aStage({ id: 'build', name: 'Build', model: 'small', usage: used(50, 5, 0.2), duration_secs: 3 }),
    aStage({ id: 'build.2', name: 'Build', model: 'small', usage: used(1, 1, 0.3), duration_secs: 0.5 }),
  ];
  const nothing = {
    totals: { runs: 0, runtime_secs: 0, input_tokens: 0, output_tokens: 0, cost: 0 },
    by_model: [],
  };

  it('reports what a run has used, by stage and by model', async () => {
    const { _id } = await stored.add({ status: 'running', stages });
    expect((await service.call('GET', `/runs/${_id}/usage`)).body).toEqual({
      stages: [
        { stage: { id: 'plan', name: 'Plan' }, model: { id: 'large' }, usage: used(100, 10, 0.1), runtime_secs: 2 },
        { stage: { id: 'build', name: 'Build' }, model: { id: 'small' }, usage: used(50, 5, 0.2), runtime_secs: 3 },
        { stage: { id: 'build.2', name: 'Build' }, model: { id: 'small' }, usage: used(1, 1, 0.3), runtime_secs: 0.5 },
      ],
      totals: { ...used(151, 16, 0.6), runtime_secs: 5.5 },
      by_model: [
        { model: { id: 'large' }, stages: 1, usage: used(100, 10, 0.1) },
        { model: { id: 'small' }, stages: 2, usage: used(51, 6, 0.5) },
      ],
    });
    expect(await service.call('GET', '/runs/01HZ0000000000000000000000/usage')).toMatchObject({
      status: 404,
      body: { errors: [{ detail: 'Run not found.' }] },
    });
  });

  it('adds up the runs that have ended, each of them once', async () => {
    expect((await service.call('GET', '/usage')).body).toEqual(nothing);
    await stored.add({ stages });
    await stored.add({ status: 'cancelled', stages: [] });
    await stored.add({ status: 'running', stages });
    const one = { totals: { ...used(151, 16, 0.6), runtime_secs: 5.5, runs: 2 } };
    expect((await service.call('GET', '/usage')).body).toMatchObject(one);
    expect((await service.call('GET', '/usage')).body).toMatchObject(one);
    await stored.add({ status: 'failed', stages });
    expect((await service.call('GET', '/usage')).body).toEqual({
      totals: { ...used(302, 32, 1.2), runtime_secs: 11, runs: 3 },
      by_model: [
        { model: { id: 'large' }, stages: 2, usage: used(200, 20, 0.2) },
        { model: { id: 'small' }, stages: 4, usage: used(102, 12, 1) },
      ],
    });
  });

  it('has no cost of what has no price, and names what a sum leaves out', async () => {
    const unpriced = { ...used(10, 20, 0), cost: null, cache_read_tokens: 4, reasoning_tokens: 5 };
    const mixed = [
      aStage({ id: 'plan', name: 'Plan', model: 'large', usage: { ...used(100, 10, 0.1), reasoning_tokens: 1 } }),
      aStage({ id: 'build', name: 'Build', model: 'local', usage: unpriced }),
      aStage({ id: 'test', name: 'Test', model: 'local', usage: unpriced }),
    ];
    const sums = { ...used(120, 50, 0.1), cache_read_tokens: 8, reasoning_tokens: 11, unpriced_stages: 2 };
    const local = { ...used(20, 40, 0), cost: null, cache_read_tokens: 8, reasoning_tokens: 10, unpriced_stages: 2 };
    const by_model = [
      { model: { id: 'large' }, stages: 1, usage: { ...used(100, 10, 0.1), reasoning_tokens: 1 } },
      { model: { id: 'local' }, stages: 2, usage: local },
    ];
    const { _id } = await stored.add({ stages: mixed });
    const { body } = await service.call('GET', `/runs/${_id}/usage`);
    expect(body).toEqual({
      stages: expect.any(Array),
      totals: { ...sums, runtime_secs: expect.any(Number) },
      by_model,
    });
    expect(body.stages[1]).toMatchObject({ stage: { id: 'build' }, usage: unpriced });
    await stored.add({ stages: [] });
    await stored.add({ stages: mixed.slice(1) });
    expect((await service.call('GET', '/usage')).body).toEqual({
      totals: {
        ...{ ...used(140, 90, 0.1), cache_read_tokens: 16, reasoning_tokens: 21, unpriced_stages: 4 },
        ...{ runs: 3, runtime_secs: expect.any(Number) },
      },
      by_model: [
        by_model[0],
        {
          ...{ model: { id: 'local' }, stages: 4 },
          usage: { ...used(40, 80, 0), cost: null, cache_read_tokens: 16, reasoning_tokens: 20, unpriced_stages: 4 },
        },
      ],
    });
    const alone = await stored.add({ stages: mixed.slice(1) });
    expect((await service.call('GET', `/runs/${alone._id}/retro`)).body.stats).not.toHaveProperty('total_cost');
  });

  it('counts right while many count at once', async () => {
    for (let count = 0; count < 130; count += 1) {
      await stored.add({ stages: stages.slice(0, 1) });
    }
    const here = await createUsageTotals(stored.database);
    const asked = Array.from({ length: 6 }, (_, at) =>
      at % 2 === 0 ? here.read() : service.call('GET', '/usage').then(({ body }) => body),
    );
    for (const { totals } of await Promise.all(asked)) {
      expect(totals).toMatchObject({ runs: 130, input_tokens: 13_000 });
    }
  });

  it('counts no run twice when the worker that counted it died before it was marked', async () => {
    const { _id } = await stored.add({ stages });
    const before = (await service.call('GET', '/usage')).body;
    // As it stands between the first write and the second one.
    const totals = await stored.database.collection<{ _id: string; marking: string[] }>({ name: 'usage-totals' });
    await totals.findOneAndUpdate({ _id: 'all' }, { $set: { marking: [_id] } });
    await stored.runs.change(_id, ['completed'], { usage_counted: false });
    expect((await service.call('GET', '/usage')).body).toEqual(before);
    expect(await stored.runs.get(_id)).toMatchObject({ usage_counted: true });
  });
});
