import { agentKey, type ApiUnderTest, readKey, type Reply, startTestApi } from '../api-under-test';

let api: ApiUnderTest;

describe('telemetry API', () => {
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  const aTaskId = (suffix: string) => `task_20260101_${suffix}`;
  const post = (body: object, key = agentKey) => api.call('POST', '/api/telemetry/events', { body, key });
  const get = (path: string) => api.call('GET', `/api/telemetry${path}`, { key: readKey });

  test('each type of event is recorded and found', async () => {
    const taskId = aTaskId('types1');
    const events = [
      { type: 'run.started', taskId, agent: 'bee' },
      { type: 'run.completed', taskId, agent: 'bee', durationMs: 1234, success: true },
      {
        type: 'run.tokens',
        taskId,
        agent: 'bee',
        model: 'm',
        inputTokens: 1,
        outputTokens: 2,
        cacheTokens: 3,
        cost: 0.5,
      },
      { type: 'network.egress', taskId, details: { host: 'example.org', allowed: false } },
    ];
    for (const event of events) {
      expect(await post(event)).toMatchObject({
        status: 201,
        body: { id: expect.stringMatching(/^event_/), ...event },
      });
    }
    const listed = await get(`/events?taskId=${taskId}`);
    expect(listed.body.map(({ type }: { type: string }) => type).sort()).toEqual(events.map(({ type }) => type).sort());
    expect((await get(`/events/task/${taskId}`)).body).toHaveLength(4);
    expect((await get(`/events/task/${taskId}?type=run.tokens`)).body).toMatchObject([{ cost: 0.5 }]);
    expect((await get(`/count?taskId=${taskId}&type=run.completed`)).body).toEqual({ count: 1 });
  });

  test('many events are reported at once, and read page by page, the newest first', async () => {
    const taskId = aTaskId('pages1');
    const events = Array.from({ length: 25 }, (_, index) => ({
      type: 'run.started',
      taskId,
      agent: 'bee',
      timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(),
    }));
    const answer = await api.call('POST', '/api/telemetry/events/bulk', { body: { events }, key: agentKey });
    expect(answer).toMatchObject({ status: 201, body: { recorded: 25 } });
    const pages = await Promise.all([1, 2, 3].map((page) => get(`/events?taskId=${taskId}&limit=10&page=${page}`)));
    const times = pages.flatMap(({ body }) => body.map(({ timestamp }: { timestamp: string }) => timestamp));
    expect(times).toEqual(events.map(({ timestamp }) => timestamp).reverse());
    const since = '2026-01-01T00:00:19.500Z';
    expect((await get(`/count?taskId=${taskId}&since=${since}`)).body).toEqual({ count: 5 });
    const zoned = encodeURIComponent('2026-01-01T01:00:19.500+01:00');
    expect((await get(`/count?taskId=${taskId}&until=${zoned}`)).body).toEqual({ count: 20 });
  });

  test('the status reports what there is', async () => {
    const { body } = await get('/status');
    expect(body).toMatchObject({ enabled: true, retentionDays: 90, byType: { 'run.started': expect.any(Number) } });
    expect(body.total).toBe(Object.values<number>(body.byType).reduce((sum, count) => sum + count, 0));
  });

  test('an export is JSON or CSV, and no cell of it is a formula', async () => {
    const taskId = aTaskId('export');
    const project = '=HYPERLINK("http://x")';
    await post({ type: 'run.tokens', taskId, agent: 'bee', project, model: '+m', inputTokens: 1, outputTokens: 2 });
    const json = await get(`/export?taskId=${taskId}`);
    expect(json.body).toMatchObject([{ project, model: '+m' }]);
    const csv = await get(`/export?taskId=${taskId}&format=csv`);
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(csv.headers.get('content-disposition')).toContain('telemetry.csv');
    const [header, row] = String(csv.body).split('\r\n');
    expect(header).toBe(
      'id,type,timestamp,taskId,attemptId,agent,project,model,inputTokens,outputTokens,cacheTokens,totalTokens,cost,durationMs,success,status,error,details',
    );
    expect(row).toContain(`"'=HYPERLINK(""http://x"")"`);
    expect(row).toContain(",'+m,");
  });

  test('an export as CSV reports in its headers how to continue, and is read to its end by them', async () => {
    const taskId = aTaskId('pages1');
    for (let n = 1; n <= 5; n += 1) {
      await post({ type: 'run.started', taskId, agent: `bee-${n}` });
    }
    const ids = (await get(`/export?taskId=${taskId}`)).body.map(({ id }: { id: string }) => id);
    const seen: string[] = [];
    for (let path: string | undefined = `/export?taskId=${taskId}&format=csv&limit=2`; path !== undefined;) {
      const page: Reply = await get(path);
      const rows = String(page.body).trim().split('\r\n').slice(1);
      expect(rows.length).toBeLessThanOrEqual(2);
      seen.push(...rows.map((row) => row.split(',')[0]!));
      const link = /<\/api\/telemetry([^>]*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
      expect(new URLSearchParams(link?.split('?')[1]).get('cursor')).toBe(page.headers.get('x-next-cursor'));
      path = link;
    }
    expect(seen).toEqual(ids);
  });

  test('a duration is at most seven days', async () => {
    const taskId = aTaskId('long01');
    const answer = await post({ type: 'run.completed', taskId, agent: 'bee', durationMs: 1e12, success: false });
    expect(answer.body.durationMs).toBe(7 * 86_400_000);
  });

  test('credentials are not kept', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const answer = await post({ type: 'run.error', taskId: aTaskId('secret'), error: `401 for ${token}` });
    expect(answer).toMatchObject({ status: 201, body: { error: '401 for [REDACTED]' } });
  });

  test.each([
    ['an unknown type', { type: 'run.paused', taskId: aTaskId('bad001'), agent: 'bee' }, 'type'],
    ['a start without an agent', { type: 'run.started', taskId: aTaskId('bad001') }, 'agent'],
    [
      'negative tokens',
      { type: 'run.tokens', taskId: aTaskId('bad001'), agent: 'b', model: 'm', inputTokens: -1, outputTokens: 0 },
      'inputTokens',
    ],
    ['an unknown field', { type: 'run.started', taskId: aTaskId('bad001'), agent: 'bee', cost: 1 }, 'cost'],
    ['a hostile task id', { type: 'run.started', taskId: '../x', agent: 'bee' }, 'taskId'],
  ])('%s is refused by its path', async (_name, body, path) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body.details.issues.map((issue: { path: string }) => issue.path)).toContain(path);
  });

  test('a bulk report is bounded, and nothing of a bad one is kept', async () => {
    const taskId = aTaskId('bulk01');
    const good = { type: 'run.started', taskId, agent: 'bee' };
    const send = (events: object[]) => api.call('POST', '/api/telemetry/events/bulk', { body: { events } });
    expect((await send(Array.from({ length: 501 }, () => good))).status).toBe(400);
    expect((await send([])).status).toBe(400);
    expect((await send([good, { ...good, agent: '' }])).status).toBe(400);
    expect((await get(`/count?taskId=${taskId}`)).body).toEqual({ count: 0 });
  });

  test('agents report and read, read-only callers read', async () => {
    expect((await post({ type: 'run.started', taskId: aTaskId('perm01'), agent: 'b' }, readKey)).status).toBe(403);
    expect((await api.call('GET', '/api/telemetry/events', { key: agentKey })).status).toBe(200);
  });
});
