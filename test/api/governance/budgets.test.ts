import { monthOf } from '../../../domain/budgets/period';
import type { NewSpendReport } from '../../../stores/governance/budgets/spend-ledger';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
let made = 0;
const noLimit = { tokens: null, costUsd: null };
const noLimits = { workspace: noLimit, project: noLimit, agent: noLimit, task: noLimit, tree: noLimit };

const read = async (query = '') => (await board.call('GET', `/api/metrics/budget${query}`, { key: readKey })).body;
const refused = async (query: string) => {
  const { status, body } = await board.call('GET', `/api/metrics/budget?${query}`);
  return [status, body.details.issues.map(({ path }: { path: string }) => path)];
};
const settings = (budget: object) => board.call('PATCH', '/api/settings/features', { body: { budget } });
const spend = (fields: Partial<NewSpendReport> = {}) => {
  made += 1;
  const run = {
    taskId: 'task_20261124_spend1',
    attemptId: 'attempt_spend00001',
    agent: 'bee',
    tree: 'attempt_spend00001',
  };
  const at = new Date().toISOString();
  return board.api.context.budgets.ledger.record([{ key: `${made}`, ...run, tokens: 10, costUsd: 0.5, at, ...fields }]);
};

describe('metrics of budgets', () => {
  beforeEach(async () => {
    board = await startTestApi();
  });
  afterEach(() => board.close());

  it('are those of the specification where nothing is set and nothing is used', async () => {
    const nothing = { limit: null, used: 0, reserved: 0, remaining: null, percent: null, projected: 0, status: 'ok' };
    const report = await read();
    const month = monthOf(Date.now(), 'UTC');
    expect(report).toEqual({
      ...{ scope: 'workspace', scopeId: 'workspace', tokens: nothing, costUsd: nothing, status: 'ok' },
      ...{ enabled: true, tokenBudget: null, costBudget: null, warningThreshold: 80, scopes: [] },
      month: { from: new Date(month.from).toISOString(), to: new Date(month.to).toISOString(), timeZone: 'UTC' },
      period: expect.objectContaining({ name: '7d', timeZone: 'UTC', used: { tokens: 0, costUsd: 0 } }),
    });
  });

  it.each([
    [79, 79, 'ok'],
    [80, 80, 'warning'],
    [99, 99, 'warning'],
    [100, 100, 'exhausted'],
    [130, 130, 'exhausted'],
  ])('with %d of 100 used are at %d percent: %s', async (tokens, percent, status) => {
    await settings({ limits: { ...noLimits, agent: { tokens: 100, costUsd: 2 } } });
    await spend({ tokens });
    const report = await read('?agent=bee');
    expect(report).toMatchObject({ tokenBudget: 100, costBudget: 2, scope: 'agent', scopeId: 'bee', status });
    expect(report.tokens).toMatchObject({ used: tokens, remaining: Math.max(0, 100 - tokens), percent, status });
    expect(report.costUsd).toMatchObject({ used: 0.5, remaining: 1.5, percent: 25, status: 'ok' });
    expect(report.tokens.projected).toBeGreaterThanOrEqual(tokens);
    await settings({ enabled: false });
    expect(await read('?agent=bee')).toMatchObject({ enabled: false, status: 'ok' });
  });

  it('are of the month, the project and the agent that are asked for', async () => {
    const { from } = monthOf(Date.now(), 'UTC');
    const before = new Date(from - 1).toISOString();
    await spend({ project: 'shop' });
    await spend({ project: 'bank', agent: 'ant' });
    await spend({ project: 'shop', at: before });
    const all = async (query: string) => {
      const { tokens, period } = await read(query);
      return [tokens.used, period.used.tokens];
    };
    expect(await all('?period=all')).toEqual([20, 30]);
    expect(await all('?period=mtd')).toEqual([20, 20]);
    expect(await all('?period=all&project=shop')).toEqual([10, 20]);
    expect(await all('?period=all&agent=ant')).toEqual([10, 10]);
    expect(await all('?period=all&project=none')).toEqual([0, 0]);
    const custom = `?period=custom&from=${new Date(from - 900_000).toISOString()}&to=${new Date(from).toISOString()}`;
    expect(await all(custom)).toEqual([20, 10]);
  });

  it('have the borders of days of the zone that is asked for', async () => {
    const today = Math.floor(Date.now() / 86_400_000) * 86_400_000;
    await spend({ at: new Date(today - 10 * 86_400_000 - 30 * 60_000).toISOString() });
    const day = async (tz: string, shift: number) => {
      const from = new Date(today - 10 * 86_400_000 + shift).toISOString();
      return (await read(`?period=custom&tz=${tz}&from=${from}&to=${new Date(today).toISOString()}`)).period;
    };
    expect((await day('Asia/Kathmandu', 0)).used.tokens).toBe(0);
    expect(await day('Asia/Kathmandu', -5.75 * 3_600_000)).toMatchObject({
      timeZone: 'Asia/Kathmandu',
      used: { tokens: 10 },
    });
    await settings({ timeZone: 'Europe/Berlin' });
    expect(await read('?tz=Asia/Tokyo')).toMatchObject({
      month: { timeZone: 'Europe/Berlin' },
      period: { timeZone: 'Asia/Tokyo' },
    });
  });

  it('list the scopes of a kind', async () => {
    await settings({ limits: { ...noLimits, task: { tokens: 10, costUsd: null } } });
    await spend({ project: 'shop' });
    await spend({ project: 'bank', taskId: 'task_20261124_spend2', tokens: 3 });
    const listed = async (query: string) =>
      (await read(query)).scopes.map(({ scopeId, tokens }: { scopeId: string; tokens: object }) => [scopeId, tokens]);
    expect(await listed('')).toMatchObject([
      ['bank', { used: 3, limit: null }],
      ['shop', { used: 10, limit: null }],
    ]);
    expect(await listed('?scope=task')).toMatchObject([
      ['task_20261124_spend1', { used: 10, limit: 10, status: 'exhausted', projected: null }],
      ['task_20261124_spend2', { used: 3, limit: 10, status: 'ok' }],
    ]);
  });

  it('count nothing that callers report as telemetry', async () => {
    const event = { type: 'run.tokens', taskId: 'task_20261124_spend1', agent: 'bee', model: 'm' };
    const body = { ...event, inputTokens: 1_000, outputTokens: 1_000, cost: 100 };
    expect((await board.call('POST', '/api/telemetry/events', { body, key: agentKey })).status).toBe(201);
    expect((await read('?agent=bee&period=all')).period.used).toEqual({ tokens: 0, costUsd: 0 });
  });
});

describe('what is no budget', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  it.each([
    ['period=never', 'period'],
    ['tz=Mars/Base', 'tz'],
    ['tz=%2B05:37', 'tz'],
    ['project=a&agent=b', 'agent'],
    ['period=custom', 'from'],
    ['from=2026-11-01T00:00:00Z', 'from'],
    ['to=2026-11-01T00:00:00Z', 'to'],
    ['period=custom&from=2001-01-01T00:00:00Z', 'from'],
    ['period=custom&from=2026-11-02T00:00:00Z&to=9999-12-31T23:59:59.999Z', 'to'],
    ['period=custom&from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z', 'to'],
    ['scope=workspace', 'scope'],
  ])('is refused: %s', async (query, path) => {
    expect(await refused(query)).toEqual([400, [path]]);
  });

  it.each([
    [{ warningThreshold: 0 }, 'budget.warningThreshold'],
    [{ timeZone: 'Nowhere' }, 'budget.timeZone'],
    [{ limits: { month: noLimit } }, 'budget.limits.month'],
    [{ limits: { task: { tokens: 0 } } }, 'budget.limits.task.tokens'],
    [{ limits: { task: { costUsd: -1 } } }, 'budget.limits.task.costUsd'],
    [{ reservePerRun: { tokens: null } }, 'budget.reservePerRun.tokens'],
  ])('is refused as a setting: %j', async (budget, path) => {
    const { status, body } = await settings(budget);
    expect([status, body.details.issues[0].path]).toEqual([400, path]);
  });
});
