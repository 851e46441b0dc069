import type { TraceInput } from '../../../contracts/governance/trace';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('traces API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const aDecision = (fields: Partial<TraceInput> = {}): TraceInput => ({
    kind: 'policy',
    outcome: 'blocked',
    title: 'A decision',
    summary: 'It was decided.',
    ...fields,
  });
  const record = (fields: Partial<TraceInput> = {}) => board.api.context.traces.record(aDecision(fields));
  const list = (query: string) => board.call('GET', `/api/governance/traces${query}`, { key: readKey });
  const ids = async (query: string) => (await list(query)).body.map(({ id }: { id: string }) => id);

  it('reports what matched; the list omits what was evaluated, one trace has it', async () => {
    const rules = [
      { id: 'a', label: 'A', type: 'rate-limit', status: 'not-matched' as const, message: 'no' },
      {
        id: 'b',
        label: 'B',
        type: 'rate-limit',
        status: 'matched' as const,
        outcome: 'blocked' as const,
        message: 'yes',
      },
    ];
    const id = await record({
      subject: { agentId: 'tells', actionType: 'deploy' },
      evaluatedRules: rules,
      steps: [{ label: 'looked', status: 'info', message: 'at it' }],
      raw: { riskScore: 80 },
    });
    const [trace] = (await list('?agent=tells')).body;
    expect(trace).toMatchObject({ id, matchedRules: [{ id: 'b' }], evaluatedRules: rules, redacted: false });
    expect(trace).not.toHaveProperty('raw');
    expect((await board.call('GET', `/api/governance/traces/${id}`)).body).toEqual({
      ...trace,
      raw: { riskScore: 80 },
    });
  });

  it('is filtered by each field, the newest first', async () => {
    const old = await record({ kind: 'ceremony', outcome: 'warned', subject: { taskId: 'task_20260101_aaaaaa' } });
    const { createdAt } = (await board.call('GET', `/api/governance/traces/${old}`)).body;
    const later = await record({ kind: 'ceremony', outcome: 'allowed', subject: { actionType: 'merge' } });
    expect((await ids('?kind=ceremony')).sort()).toEqual([old, later].sort());
    expect(await ids('?outcome=warned')).toEqual([old]);
    expect(await ids('?taskId=task_20260101_aaaaaa')).toEqual([old]);
    expect(await ids('?actionType=merge&kind=ceremony')).toEqual([later]);
    expect(await ids('?actionType=merge&kind=policy')).toEqual([]);
    expect(await ids(`?outcome=warned&startTime=${createdAt}&endTime=${createdAt}`)).toEqual([old]);
    expect(await ids('?endTime=2020-01-01T00:00:00%2B02:00')).toEqual([]);
    expect(await ids('?limit=1')).toHaveLength(1);
    const all = (await list('')).body.map((trace: { createdAt: string }) => trace.createdAt);
    expect(all).toEqual([...all].sort().reverse());
  });

  it('holds no secret, and reports that something was taken out', async () => {
    const secret = `ghp_${'a1'.repeat(18)}`;
    const id = await record({
      title: secret,
      subject: { agentId: 'hides' },
      evaluatedRules: [{ id: 'a', label: secret, type: 'x', status: 'info', message: secret }],
      raw: { deep: [{ token: 'tiny' }, secret] },
    });
    const { body } = await board.call('GET', `/api/governance/traces/${id}`);
    expect(JSON.stringify(body)).not.toMatch(/ghp_|tiny/);
    expect(body.redacted).toBe(true);
  });

  it('is one trace for one decision, however often it is recorded', async () => {
    const found = await Promise.all(
      [1, 2, 3].map(() => record({ dedupeKey: 'attempt_1', subject: { agentId: 'once' } })),
    );
    expect(new Set(found).size).toBe(1);
    expect(await ids('?agent=once')).toEqual([found[0]]);
    expect(await record({ dedupeKey: 'attempt_1', kind: 'routing' })).not.toBe(found[0]);
  });

  it.each([
    '?kind=nothing',
    '?outcome=maybe',
    '?limit=0',
    '?limit=501',
    '?startTime=yesterday',
    '?taskId=..',
    '?raw=1',
  ])('refuses the query %s', async (query) => {
    expect((await list(query)).body).toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  it('is read by those who may read policies', async () => {
    expect((await board.call('GET', '/api/governance/traces', { key: agentKey })).status).toBe(403);
    expect((await board.call('GET', '/api/governance/traces', { key: null })).status).toBe(401);
    expect((await board.call('GET', `/api/governance/traces/trace_${'0'.repeat(24)}`)).status).toBe(404);
    expect((await board.call('GET', '/api/governance/traces/..%2f..')).status).toBe(400);
  });
});
