import fc from 'fast-check';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let api: ApiUnderTest;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const minutes = (count: number) => count * 60_000;
/** A day whose events have not expired, as a midnight of UTC. */
const base = Math.floor(Date.now() / 86_400_000 - 10) * 86_400_000;
const day = (hour: number) => new Date(base + hour * 3_600_000).toISOString();
const [before, theDay, after] = [day(-24), day(0), day(24)].map((time) => time.slice(0, 10));
const inPeriod = `from=${theDay}&to=${theDay}`;

async function report(events: object[]): Promise<void> {
  const reply = await api.call('POST', '/api/telemetry/events/bulk', { body: { events }, key: agentKey });
  expect(reply.status).toBe(201);
}

async function get(path: string) {
  const reply = await api.call('GET', `/api/metrics/${path}`, { key: readKey });
  expect([path, reply.status]).toEqual([path, 200]);
  return reply.body;
}

const ended = (project: string, agent: string, [hour, success, durationMs]: [number, boolean, number]) => ({
  ...{ type: 'run.completed', taskId: 'task_20260101_metric', project, agent, success, durationMs },
  timestamp: day(hour),
});

describe('metrics of runs', () => {
  const project = 'golden';
  beforeAll(async () => {
    const attemptId = (n: number) => `attempt_metrics0${n}`;
    const tokens = { type: 'run.tokens', taskId: 'task_20260101_metric', project, model: 'm', timestamp: day(9) };
    await report([
      { ...ended(project, 'ant', [9, true, minutes(10)]), attemptId: attemptId(1) },
      { ...ended(project, 'ant', [10, true, minutes(30)]), attemptId: attemptId(2) },
      { ...ended(project, 'bee', [11, false, minutes(20)]), attemptId: attemptId(3), error: 'broke' },
      ended(project, 'bee', [25, true, minutes(99)]),
      ended('other', 'bee', [9, true, minutes(99)]),
      { type: 'run.error', agent: 'bee', project, timestamp: day(11), error: 'broke' },
      { ...tokens, agent: 'ant', attemptId: attemptId(1), inputTokens: 100, outputTokens: 20, cost: 0.1 },
      { ...tokens, agent: 'ant', attemptId: attemptId(1), inputTokens: 10, outputTokens: 0, cost: 0.2 },
      { ...tokens, agent: 'ant', attemptId: attemptId(2), inputTokens: 40, outputTokens: 10, cacheTokens: 5 },
      { ...tokens, agent: 'bee', attemptId: attemptId(3), inputTokens: 1_000, outputTokens: 0, cost: 1 },
    ]);
  });
  const path = (name: string) => `${name}?${inPeriod}&project=${project}`;

  it('count ends by agent, in the period and project alone', async () => {
    expect(await get(path('runs'))).toEqual({
      period: { name: 'custom', from: day(0), to: day(24), timeZone: 'UTC' },
      coverage: { complete: true, since: day(0) },
      ...{ runs: 3, successes: 2, failures: 1, errors: 1, successRate: 2 / 3, errorRate: 1 / 3 },
      byAgent: [
        { agent: 'ant', runs: 2, successes: 2, failures: 0, errors: 0, successRate: 1, errorRate: 0 },
        { agent: 'bee', runs: 1, successes: 0, failures: 1, errors: 1, successRate: 0, errorRate: 1 },
      ],
      otherAgents: 0,
    });
    expect((await get(`runs?from=${theDay}&to=${after}&project=${project}`)).runs).toBe(4);
    // 1:00 on the second day in UTC is the first day in New York.
    expect((await get(`${path('runs')}&tz=America/New_York`)).runs).toBe(4);
  });

  it('summarize durations of 10, 20 and 30 minutes', async () => {
    expect(await get(path('duration'))).toMatchObject({
      ...{ runs: 3, avgMs: minutes(20), p50Ms: minutes(20), p95Ms: minutes(30), maxMs: minutes(30) },
      percentiles: 'exact',
    });
  });

  it('summarize tokens, and those of successful runs by their attempts: 130 and 50', async () => {
    expect(await get(path('tokens'))).toMatchObject({
      ...{ inputTokens: 1_150, outputTokens: 30, cacheTokens: 5, totalTokens: 1_180, cost: 1.3 },
      perSuccessfulRun: { runs: 2, avg: 90, p50: 50, p95: 130 },
    });
  });

  it('list failed runs', async () => {
    expect(await get(path('failed-runs'))).toEqual([
      {
        id: expect.any(String),
        ...{ taskId: 'task_20260101_metric', attemptId: 'attempt_metrics03', agent: 'bee', project, error: 'broke' },
        ...{ timestamp: day(11), durationMs: minutes(20) },
      },
    ]);
  });

  it('have trends by hour for one day, whose sums are those of the period', async () => {
    const { unit, parts } = await get(path('trends'));
    expect([unit, parts.length]).toEqual(['hour', 24]);
    expect(parts[9]).toMatchObject({ label: `${theDay}T09:00`, runs: 1, totalTokens: 1_180, cost: 1.3 });
    const { unit: days, parts: two } = await get(`trends?from=${before}&to=${after}&project=${project}`);
    expect([days, two.map(({ runs }: { runs: number }) => runs)]).toEqual(['day', [0, 3, 1]]);
  });

  it('have the cost of tasks, the utilization and a comparison', async () => {
    expect(await get(path('task-cost'))).toMatchObject({
      ...{ totalCost: 1.3, taskCount: 1, averageCost: 1.3 },
      tasks: [{ taskId: 'task_20260101_metric', cost: 1.3, totalTokens: 1_180 }],
    });
    // The run that ended at 1:00 on the next day began at 23:21.
    expect(await get(path('utilization'))).toMatchObject({
      ...{ periodMs: minutes(1_440), activeMs: minutes(60 + 39), runs: 4, utilization: 99 / 1_440 },
    });
    expect(await get(`${path('agents/comparison')}&minRuns=2`)).toMatchObject({
      agents: [{ agent: 'ant', runs: 2, costPerRun: 0.15, tokensPerRun: 90 }],
      omitted: 1,
      best: { reliable: 'ant', fastest: 'ant', cheapest: 'ant' },
    });
  });

  it('are the same together as each by itself', async () => {
    const all = await get(path('all'));
    for (const name of ['runs', 'tokens', 'duration', 'tasks'] as const) {
      expect(all[name]).toEqual(await get(path(name)));
    }
  });

  it.each(['runs', 'trends', 'utilization', 'tokens'])(
    '%s of all that is stored begin with the first event',
    async (name) => {
      const { period, coverage } = await get(`${name}?period=all&project=${project}`);
      expect([period.from, coverage]).toEqual([null, { complete: true, since: null }]);
    },
  );
});

describe('metrics of tasks', () => {
  it('count tasks as they are, and what was created and completed in the period', async () => {
    const project = 'tasks of metrics';
    const create = (fields: object) => api.call('POST', '/api/tasks', { body: { title: 'T', project, ...fields } });
    const first = await create({});
    await create({ status: 'blocked', blockedReason: { category: 'other' } });
    await create({ status: 'done' });
    expect((await create({})).body).not.toHaveProperty('completedAt');
    const started = await api.call('PATCH', `/api/tasks/${first.body.id}`, { body: { status: 'in-progress' } });
    expect(started.body.startedAt).toBe(started.body.updatedAt);
    const query = `project=${encodeURIComponent(project)}`;
    const counts = {
      ...{ total: 4, backlog: 0, archived: 0, created: 4, completed: 1, byBlockedReason: { other: 1 } },
      byStatus: { todo: 1, 'in-progress': 1, blocked: 1, done: 1 },
    };
    expect(await get(`tasks?${query}`)).toMatchObject(counts);
    expect(await get(`tasks?to=2020-01-01&${query}`)).toMatchObject({ ...counts, created: 0, completed: 0 });

    const done = await api.call('PATCH', `/api/tasks/${first.body.id}`, { body: { status: 'done' } });
    expect(done.body).toMatchObject({ startedAt: started.body.startedAt, completedAt: done.body.updatedAt });
    await api.call('PATCH', `/api/tasks/${first.body.id}`, { body: { title: 'Later' } });
    expect((await api.call('GET', `/api/tasks/${first.body.id}`)).body.completedAt).toBe(done.body.completedAt);
    expect(await get(`tasks?${query}`)).toMatchObject({ completed: 2 });
    const reopened = await api.call('PATCH', `/api/tasks/${first.body.id}`, { body: { status: 'todo' } });
    expect(reopened.body).not.toHaveProperty('completedAt');
    expect(await get(`tasks?${query}`)).toMatchObject({ completed: 1 });
  });

  it('have the velocity of sprints', async () => {
    const create = (sprint: string, status: string) =>
      api.call('POST', '/api/tasks', { body: { title: 'T', project: 'velocity', sprint, status } });
    await create('S1', 'done');
    await create('S2', 'done');
    await create('S2', 'done');
    await create('S3', 'todo');
    expect(await get('velocity?project=velocity')).toMatchObject({
      sprints: [
        { sprint: 'S1', total: 1, completed: 1 },
        { sprint: 'S2', total: 2, completed: 2 },
      ],
      ...{ averageVelocity: 1.5, trend: 'accelerating', currentSprint: { sprint: 'S3', total: 1, completed: 0 } },
    });
  });
});

describe('metrics', () => {
  it.each([
    ['runs?period=5d', 'period'],
    ['runs?tz=Mars/Olympus', 'tz'],
    ['runs?period=custom', 'from'],
    ['runs?period=7d&from=2026-01-01', 'from'],
    ['trends?from=2026-01-02&to=2026-01-01', 'to'],
    ['tokens?from=1700-01-01', 'from'],
    ['task-cost?limit=0', 'limit'],
    ['agents/comparison?minRuns=0', 'minRuns'],
    ['velocity?period=7d', 'period'],
    ['duration?agent=ant', 'agent'],
  ])('refuse %s at %s', async (path, field) => {
    const reply = await api.call('GET', `/api/metrics/${path}`);
    expect(reply).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(JSON.stringify(reply.body)).toContain(`"${field}"`);
  });

  it('are refused while the setting analyticsEnabled is false', async () => {
    const set = (analyticsEnabled: boolean) =>
      api.call('PATCH', '/api/settings/features', { body: { analyticsEnabled } });
    await set(false);
    expect(await api.call('GET', '/api/metrics/runs')).toMatchObject({
      status: 403,
      body: { code: 'FEATURE_DISABLED' },
    });
    await set(true);
    expect((await api.call('GET', '/api/metrics/runs')).status).toBe(200);
  });

  it('are the sums of any reports', async () => {
    const agents = ['ant', 'bee', 'cow'];
    const anEvent = fc.record({
      agent: fc.constantFrom(...agents),
      hour: fc.nat(23),
      success: fc.boolean(),
      durationMs: fc.nat(100_000),
      inputTokens: fc.nat(1_000),
      outputTokens: fc.nat(1_000),
    });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anEvent, { minLength: 1, maxLength: 20 }), async (events) => {
        round += 1;
        const project = `random ${round}`;
        await report(
          events.flatMap(({ agent, hour, success, durationMs, inputTokens, outputTokens }) => [
            ended(project, agent, [hour, success, durationMs]),
            {
              ...{
                type: 'run.tokens',
                taskId: 'task_20260101_metric',
                project,
                agent,
                model: 'm',
                inputTokens,
                outputTokens,
              },
              timestamp: day(hour),
            },
          ]),
        );
        const { runs, tokens, duration } = await get(`all?${inPeriod}&project=${encodeURIComponent(project)}`);
        const sum = (of: (event: (typeof events)[number]) => number) =>
          events.reduce((total, one) => total + of(one), 0);
        expect(runs).toMatchObject({ runs: events.length, successes: sum(({ success }) => Number(success)) });
        expect(tokens.totalTokens).toBe(sum(({ inputTokens, outputTokens }) => inputTokens + outputTokens));
        expect(duration.avgMs).toBe(Math.round(sum(({ durationMs }) => durationMs) / events.length));
        for (const agent of agents) {
          const own = events.filter((event) => event.agent === agent);
          const shown = runs.byAgent.find((one: { agent: string }) => one.agent === agent);
          expect(shown?.runs ?? 0).toBe(own.length);
        }
        const { parts } = await get(`trends?${inPeriod}&project=${encodeURIComponent(project)}`);
        const total = parts.reduce((all: number, part: { totalTokens: number }) => all + part.totalTokens, 0);
        expect(total).toBe(tokens.totalTokens);
      }),
      { numRuns: 10 },
    );
  });
});

describe('ranges of telemetry', () => {
  it('are read whole, each event once, where many are of one moment and more than a page', async () => {
    const { telemetry } = api.api.context;
    const project = 'ranges';
    const times = [...Array.from({ length: 1_203 }, () => day(5)), ...Array.from({ length: 40 }, (_, n) => day(n))];
    await Promise.all(
      times.map((timestamp) =>
        telemetry.record({ type: 'run.started', taskId: 'task_range', agent: 'a', project, timestamp }),
      ),
    );
    const read: string[] = [];
    const sizes: number[] = [];
    for await (const page of telemetry.pages({ type: 'run.started', from: day(1), to: day(30), project })) {
      sizes.push(page.length);
      read.push(...page.map(({ id }) => id));
    }
    expect(sizes).toEqual([500, 500, 232]);
    expect(new Set(read).size).toBe(1_203 + 29);
  });
});
