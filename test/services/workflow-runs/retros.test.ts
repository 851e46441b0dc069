import { startServiceUnderTest, type WorkflowRunsUnderTest } from './service-under-test';
import { aStage, openStoredRuns, type StoredRuns } from './stored-runs';

let service: WorkflowRunsUnderTest;
let stored: StoredRuns;
beforeAll(async () => {
  service = await startServiceUnderTest();
  stored = await openStoredRuns(service);
});
afterAll(async () => {
  await stored.database.close();
  await service.close();
});

describe('the retro of a run', () => {
  it('is available once the run has ended', async () => {
    const { _id } = await stored.add({ goal: 'Ship', stages: [aStage({ retries: 1 })] });
    expect(await service.call('GET', `/runs/${_id}/retro`)).toMatchObject({
      status: 200,
      body: { run_id: _id, goal: 'Ship', smoothness: 'smooth', stats: { total_retries: 1, total_duration_ms: 10_000 } },
    });
  });

  it('is null before', async () => {
    const { _id } = await stored.add({ status: 'running' });
    const { status, body } = await service.call('GET', `/runs/${_id}/retro`);
    expect({ status, body }).toEqual({ status: 200, body: null });
  });

  it('is not there for a run that is not', async () => {
    expect(await service.call('GET', '/runs/01HZ0000000000000000000000/retro')).toMatchObject({
      status: 404,
      body: { errors: [{ status: '404', title: 'Not Found', detail: 'Run not found.' }] },
    });
  });

  it('is for callers with a token only', async () => {
    expect((await service.call('GET', '/retros', undefined, null)).status).toBe(401);
  });
});

describe('the list of retros', () => {
  const ids = async (query: string): Promise<string[]> =>
    (await service.call('GET', `/retros?${query}`)).body.data.map(({ run }: { run: { id: string } }) => run.id);
  let effortless: string;
  let failed: string;
  let others: string;
  beforeAll(async () => {
    effortless = (await stored.add({ slug: 'listed' }))._id;
    failed = (await stored.add({ slug: 'listed', status: 'failed', error: { message: 'no' } }))._id;
    others = (await stored.add({ slug: 'elsewhere' }))._id;
    await stored.add({ slug: 'listed', status: 'running' });
    await stored.add({ slug: 'listed', status: 'queued' });
  });

  it('holds runs that have ended, the newest first', async () => {
    const { body } = await service.call('GET', '/retros?page[limit]=3');
    expect(body.data.map(({ run }: { run: { id: string } }) => run.id)).toEqual([others, failed, effortless]);
    expect(body.data[1]).toEqual({
      run: { id: failed, title: 'Ship the helpers' },
      workflow: { slug: 'listed' },
      timestamp: expect.stringMatching(/^2026-03-01T/),
      smoothness: 'failed',
      stats: { total_duration_ms: 10_000, total_retries: 0, files_touched: [], stages_completed: 1, stages_failed: 0 },
      friction_point_count: 0,
    });
  });

  it('is filtered by workflow and by smoothness, and by both', async () => {
    expect(await ids('workflow=listed')).toEqual([failed, effortless]);
    expect(await ids('smoothness=failed')).toEqual([failed]);
    expect(await ids('workflow=listed&smoothness=effortless')).toEqual([effortless]);
    expect(await ids('workflow=elsewhere&smoothness=failed')).toEqual([]);
  });

  it('comes in pages', async () => {
    const first = await service.call('GET', '/retros?workflow=listed&page[limit]=1');
    expect(first.body).toMatchObject({ data: [{ run: { id: failed } }], meta: { has_more: true } });
    const second = await service.call('GET', '/retros?workflow=listed&page[limit]=1&page[offset]=1');
    expect(second.body).toMatchObject({ data: [{ run: { id: effortless } }], meta: { has_more: false } });
  });

  it.each(['smoothness=excellent', 'colour=red'])('refuses the filter %s', async (query) => {
    expect((await service.call('GET', `/retros?${query}`)).status).toBe(400);
  });
});
