import { TestWatcher } from '../../support/watcher';
import { adminKey, agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('agent status API', () => {
  beforeEach(async () => {
    board = await startTestApi();
  });
  afterEach(() => board.close());

  const report = (body: unknown, key = agentKey) => board.call('POST', '/api/agent/status', { body, key });
  const status = async () => (await board.call('GET', '/api/agent/status', { key: readKey })).body;
  const history = async (path = '') => (await board.call('GET', `/api/status-history${path}`, { key: readKey })).body;

  it('is idle before the first report, and then what was reported last', async () => {
    expect(await status()).toEqual({ status: 'idle', subAgentCount: 0, activeAgents: [] });
    const reported = await report({
      status: 'sub-agent',
      subAgentCount: 2,
      activeTask: { id: 'task_20260101_abcdef', title: 'Ship <b>it</b>' },
      activeAgents: [{ agent: 'ada', status: 'thinking', taskTitle: 'Ship it' }],
    });
    expect(reported).toMatchObject({ status: 200, body: { status: 'sub-agent', activeTask: { title: 'Ship it' } } });
    expect(await status()).toEqual(reported.body);
    await report({ status: 'error', errorMessage: 'No tokens left' });
    expect(await status()).toMatchObject({ status: 'error', activeAgents: [], errorMessage: 'No tokens left' });
  });

  it('is published to watchers', async () => {
    const watcher = await TestWatcher.open(board.url, {}, `?api_key=${readKey}`);
    watcher.send({ type: 'subscribe', channel: 'agent:status' });
    await watcher.receives(({ type }) => type === 'agent:status:subscribed');
    await report({ status: 'working', activeAgents: [{ agent: 'ada' }] });
    const received = await watcher.receives(
      (message) => message.type === 'agent:status' && message.status === 'working',
    );
    expect(received.activeAgents).toEqual([{ agent: 'ada', status: 'working' }]);
    watcher.close();
  });

  it.each([
    ['no status', {}, 'status'],
    ['an unknown status', { status: 'asleep' }, 'status'],
    ['a count below zero', { status: 'idle', subAgentCount: -1 }, 'subAgentCount'],
    ['an agent without a name', { status: 'idle', activeAgents: [{ agent: '' }] }, 'activeAgents.0.agent'],
    ['a field that is none', { status: 'idle', mood: 'good' }, 'mood'],
  ])('refuses %s by the path of the field', async (_case, body, path) => {
    const refused = await report(body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });

  it('needs telemetry:write to report, and an administrator to clear the history', async () => {
    expect((await report({ status: 'idle' }, readKey)).status).toBe(403);
    expect((await board.call('GET', '/api/status-history', { key: agentKey })).status).toBe(200);
    expect((await board.call('DELETE', '/api/status-history', { key: agentKey })).status).toBe(403);
  });

  it('keeps every change of the status, and no report that changes nothing', async () => {
    for (const next of ['working', 'working', 'thinking', 'idle'] as const) {
      await report({ status: next });
    }
    const changes = await history();
    expect(changes.map(({ previousStatus, newStatus }: Record<string, string>) => [previousStatus, newStatus])).toEqual(
      [
        ['thinking', 'idle'],
        ['working', 'thinking'],
        ['idle', 'working'],
      ],
    );
    expect(changes[0]).toMatchObject({ durationMs: expect.any(Number), subAgentCount: 0 });
    expect(await history('?limit=1&offset=1')).toEqual([changes[1]]);
    const [last, first] = [changes.at(0), changes.at(-1)].map(({ timestamp }) => timestamp.slice(0, 10));
    expect(await history(`/range?startDate=${first}&endDate=${last}`)).toEqual([...changes].reverse());
    expect(await history(`/range?startDate=2020-01-01&endDate=2020-01-02T00:00:00Z`)).toEqual([]);
    for (const end of ['9999-12-31', '9999-12-31T23:59:59.999Z']) {
      expect(await history(`/range?startDate=0000-01-01&endDate=${end}`)).toHaveLength(changes.length);
    }
  });

  it('is one unbroken chain, however many report at once', async () => {
    const states = ['working', 'thinking', 'error', 'sub-agent'];
    const replies = await Promise.all(Array.from({ length: 24 }, (_, n) => report({ status: states[n % 4] })));
    expect(replies.every((reply) => reply.status === 200)).toBe(true);
    const changes = (await history()).reverse();
    let before = 'idle';
    for (const { previousStatus, newStatus } of changes) {
      expect(previousStatus).toBe(before);
      expect(newStatus).not.toBe(before);
      before = newStatus;
    }
    expect((await status()).status).toBe(before);
  });

  it('is summed up by day and by week', async () => {
    await report({ status: 'working' });
    const [{ timestamp }] = await history();
    const day = await history(`/summary/daily?date=${timestamp.slice(0, 10)}`);
    expect(day).toMatchObject({ transitions: 1, idleMs: 0, periods: [expect.objectContaining({ status: 'working' })] });
    const week = await history(`/summary/weekly?date=${day.date}`);
    expect(week).toMatchObject({ endDate: day.date, transitions: 1 });
    expect(week.days).toHaveLength(7);
    expect(await history('/summary/daily?date=2020-01-01')).toMatchObject({ activeMs: 0, periods: [] });
    expect((await board.call('GET', '/api/status-history/summary/daily?date=today')).status).toBe(400);
    expect((await board.call('GET', '/api/status-history/summary/weekly?date=0000-01-01')).status).toBe(400);
    expect(await history('/summary/weekly?date=0001-01-01')).toMatchObject({ startDate: '0000-12-26', transitions: 0 });
    expect(await history('/summary/daily?date=9999-12-31')).toMatchObject({ activeMs: 0, transitions: 0 });
    expect((await board.call('GET', '/api/status-history/range?startDate=2026-02-01&endDate=2026-01-01')).status).toBe(
      400,
    );
  });

  it('keeps what holds now when the history is cleared', async () => {
    await report({ status: 'working' });
    await report({ status: 'thinking' });
    expect((await board.call('DELETE', '/api/status-history')).status).toBe(204);
    expect(await history()).toEqual([]);
    expect((await status()).status).toBe('thinking');
    await report({ status: 'idle' });
    expect(await history()).toEqual([expect.objectContaining({ previousStatus: 'thinking', newStatus: 'idle' })]);
  });

  it('keeps reports of broken delegation rules in the audit log', async () => {
    const body = { rule: 'no-self-review', taskId: 'task_20260101_abcdef', message: 'Reviewed its own work' };
    const path = '/api/agent/status/delegation-violation';
    const reported = await board.call('POST', path, { body, key: agentKey });
    expect(reported).toMatchObject({ status: 201, body: { recorded: true, agent: 'worker', rule: 'no-self-review' } });
    const { entries } = (await board.call('GET', '/api/audit?action=delegation.violation', { key: adminKey })).body;
    expect(entries).toEqual([expect.objectContaining({ actor: 'agent:worker', resource: body.taskId })]);
    expect((await board.call('POST', path, { body: {}, key: agentKey })).status).toBe(400);
    expect((await board.call('POST', path, { body, key: readKey })).status).toBe(403);
  });
});
