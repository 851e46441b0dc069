import { nextMillisecond } from '../../support/next-millisecond';
import { agentKey, type ApiUnderTest, type CallOptions, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('drift API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const call = (method: string, rest: string, options: CallOptions = {}) =>
    board.call(method, `/api/drift${rest}`, options);
  const analyze = async (agent: string) => (await call('POST', '/analyze', { body: { agent } })).body;
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  /** Runs that took so many milliseconds, a minute after each other; the last one was a minute ago. */
  const ran = async (agent: string, durations: number[]) => {
    const events = durations.map((durationMs, at) => ({
      type: 'run.completed',
      taskId: 'TASK-1',
      agent,
      durationMs,
      success: true,
      timestamp: minutesAgo(durations.length - at),
    }));
    expect((await board.call('POST', '/api/telemetry/events/bulk', { body: { events } })).status).toBe(201);
  };
  const usual = [900, 1_100, 1_000, 950, 1_050, 900, 1_100, 1_000, 950, 1_050];
  const slow = Array.from({ length: 5 }, () => 5_000);

  it('raises one alert for what is out of the ordinary, however often it looks', async () => {
    await ran('slower', [...usual, ...slow]);
    const summary = await analyze('slower');
    expect(summary.alerts).toMatchObject([
      {
        agent: 'slower',
        metric: 'duration',
        baseline: 1_000,
        current: 5_000,
        threshold: 4,
        severity: 'critical',
        acknowledged: false,
      },
    ]);
    expect(summary.alerts[0].deviation).toBeGreaterThan(4);
    expect((await analyze('slower')).alerts).toEqual(summary.alerts);
    expect((await call('GET', '/alerts?agent=slower')).body).toEqual(summary.alerts);
    expect((await call('GET', '/baselines?agent=slower&metric=duration')).body).toMatchObject([
      { agent: 'slower', metric: 'duration', mean: 1_000, sampleSize: 10 },
    ]);
  });

  it('raises none for what is as always, for a few runs and for none', async () => {
    await ran('steady', [...usual, ...usual]);
    await ran('new', usual);
    expect((await analyze('steady')).alerts).toEqual([]);
    const { snapshots, alerts } = await analyze('new');
    expect(alerts).toEqual([]);
    expect(snapshots).toContainEqual({ metric: 'duration', current: expect.any(Number), sampleSize: 5 });
    expect((await analyze('nobody')).alerts).toEqual([]);
    expect((await call('GET', '/baselines?agent=nobody')).body).toEqual([]);
  });

  it('begins again after a reset', async () => {
    await ran('changed', [...usual, ...slow]);
    await analyze('changed');
    const reset = await call('POST', '/baselines/reset', { body: { agentId: 'changed', metric: 'duration' } });
    expect(reset.body).toMatchObject([{ metric: 'duration', mean: 0, sampleSize: 0, since: expect.any(String) }]);
    const { alerts, baselines } = await analyze('changed');
    expect(alerts).toEqual([]);
    expect(baselines).toContainEqual(expect.objectContaining({ metric: 'duration', sampleSize: 0 }));
    expect(baselines).toContainEqual(expect.objectContaining({ metric: 'success_rate', sampleSize: 10 }));
    expect((await call('POST', '/baselines/reset', { body: { agent: 'changed' } })).body).toHaveLength(5);
  });

  it('is acknowledged once', async () => {
    await ran('known', [...usual, ...slow]);
    const [{ id }] = (await analyze('known')).alerts;
    const first = await call('POST', `/alerts/${id}/acknowledge`, { body: { notes: 'A new model' } });
    expect(first.body).toMatchObject({ acknowledged: true, acknowledgedBy: 'service:admin', notes: 'A new model' });
    expect((await call('POST', `/alerts/${id}/acknowledge`, { body: { notes: 'Late' } })).body).toEqual(first.body);
    expect((await call('GET', '/alerts?agent=known&acknowledged=false')).body).toEqual([]);
    expect((await call('GET', '/alerts?acknowledged=true&metric=duration&severity=critical')).body).toHaveLength(1);
    expect((await analyze('known')).alerts).toEqual([first.body]);
    await nextMillisecond();
    expect((await call('GET', `/alerts?since=${new Date().toISOString()}`)).body).toEqual([]);
    expect((await call('POST', `/alerts/drift_${'0'.repeat(24)}/acknowledge`)).status).toBe(404);
  });

  it.each([
    ['/analyze', {}, 'agent'],
    ['/analyze', { agent: 'a', agentId: 'a' }, 'agent'],
    ['/analyze', { agent: 'a', mood: 1 }, 'mood'],
    ['/baselines/reset', { agent: 'a', metric: 'mood' }, 'metric'],
  ])('refuses %s of %j by the path of the field', async (path, body, field) => {
    const refused = await call('POST', path, { body });
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path: field }));
  });

  it('is read with telemetry:read and written with telemetry:write', async () => {
    expect((await call('GET', '/alerts', { key: readKey })).status).toBe(200);
    expect((await call('GET', '/baselines', { key: agentKey })).status).toBe(200);
    expect((await call('POST', '/analyze', { body: { agent: 'a' }, key: agentKey })).status).toBe(200);
    expect((await call('POST', '/analyze', { body: { agent: 'a' }, key: readKey })).status).toBe(403);
  });
});
