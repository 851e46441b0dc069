import { adminKey, agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

const path = '/api/settings/transition-hooks';
const rule = { id: 'one', name: 'One', from: 'todo', to: 'done', gates: ['require-plan'] };
const stored = { ...rule, enabled: true, actions: [] };

describe('transition hooks', () => {
  let board: ApiUnderTest;
  beforeEach(async () => {
    board = await startTestApi();
  });
  afterEach(() => board.close());

  const call = (method: string, rest: string, body?: unknown) => board.call(method, `${path}${rest}`, { body });
  const issuesOf = async (method: string, rest: string, body: unknown) => {
    const refused = await call(method, rest, body);
    expect(refused.status).toBe(400);
    return refused.body.details.issues.map(({ path: field }: { path: string }) => field) as string[];
  };

  it('are turned off at first, with samples that obey the rules of writing', async () => {
    const { body, headers } = await call('GET', '');
    expect(body).toMatchObject({ enabled: false, defaultGates: [], defaultActions: [] });
    expect(body.rules.length).toBeGreaterThan(0);
    expect(body.rules.every(({ enabled }: { enabled: boolean }) => !enabled)).toBe(true);
    expect(headers.get('x-resource-revision')).toBe('0');
    expect(await call('PUT', '', body)).toMatchObject({ status: 200, body });
  });

  it('are replaced, changed in parts and read back', async () => {
    const whole = { enabled: true, rules: [rule], defaultGates: ['require-agent'], defaultActions: ['log-activity'] };
    const replaced = await call('PUT', '', whole);
    const answer = { ...whole, rules: [stored], defaultActions: [{ type: 'log-activity' }] };
    expect(replaced).toMatchObject({ status: 200, body: answer });
    expect((await call('PATCH', '', { enabled: false })).body).toEqual({ ...answer, enabled: false });
    expect((await call('GET', '')).body).toEqual({ ...answer, enabled: false });
    const entries = (await board.call('GET', '/api/audit?limit=5')).body.entries as { action: string }[];
    expect(entries.filter(({ action }) => action === 'transition-hooks.update')).toHaveLength(2);
  });

  it('refuse a stale revision with the current one', async () => {
    await call('PUT', '', { enabled: false, rules: [] });
    const current = { details: { currentRevision: 1, current: { enabled: false, rules: [] } } };
    expect(await call('PATCH', '', { enabled: true, expectedRevision: 0 })).toMatchObject({
      status: 409,
      body: current,
    });
    const stale = { 'If-Match': '7' };
    expect(await board.call('PATCH', path, { body: { enabled: true }, headers: stale })).toMatchObject({ status: 409 });
    expect(await call('PATCH', '', { enabled: true, expectedRevision: 1 })).toMatchObject({ status: 200 });
    expect(await call('POST', '/rules', { ...rule, expectedRevision: 1 })).toMatchObject({ status: 409 });
  });

  it('have rules that are created, read, replaced and deleted', async () => {
    await call('PUT', '', { enabled: true, rules: [] });
    expect(await call('POST', '/rules', rule)).toMatchObject({ status: 201, body: stored });
    expect(await call('POST', '/rules', rule)).toMatchObject({ status: 409, body: { details: { resourceId: 'one' } } });
    expect((await call('GET', '/rules/one')).body).toEqual(stored);
    expect(await call('PUT', '/rules/one', { ...rule, name: 'Two' })).toMatchObject({
      body: { id: 'one', name: 'Two' },
    });
    expect(await issuesOf('PUT', '/rules/one', { ...rule, id: 'two' })).toEqual(['id']);
    const named = await call('POST', '/rules', { ...rule, id: undefined });
    expect(named.body.id).toMatch(/^rule_[0-9a-f]{12}$/);
    expect((await call('DELETE', '/rules/one')).status).toBe(204);
    for (const [method, body] of [['GET'], ['PUT', rule], ['DELETE']] as const) {
      expect((await call(method, '/rules/one', body)).status).toBe(404);
    }
    expect((await call('GET', '')).body.rules.map(({ id }: { id: string }) => id)).toEqual([named.body.id]);
  });

  it('keep the rules of ten concurrent writers', async () => {
    await call('PUT', '', { enabled: true, rules: [] });
    const writers = Array.from({ length: 10 }, (_, n) => call('POST', '/rules', { ...rule, id: `rule-${n}` }));
    expect((await Promise.all(writers)).map(({ status }) => status)).toEqual(writers.map(() => 201));
    expect((await call('GET', '')).body.rules).toHaveLength(10);
  });

  it.each<[string, object, string]>([
    ['an unknown gate', { gates: ['require-luck'] }, 'gates.0'],
    ['an unknown action', { actions: ['sing'] }, 'actions.0'],
    ['a webhook without a URL', { actions: [{ type: 'send-webhook' }] }, 'actions.0.url'],
    [
      'a webhook with a password',
      { actions: [{ type: 'send-webhook', url: 'https://a:b@example.org' }] },
      'actions.0.url',
    ],
    [
      'a field that the action ignores',
      { actions: [{ type: 'log-activity', url: 'https://example.org' }] },
      'actions.0.url',
    ],
    ['an unknown status', { to: 'finished' }, 'to'],
    ['an unknown field', { when: 'always' }, 'when'],
    ['a status that cannot change', { from: 'done' }, 'to'],
    ['statuses that cannot change', { from: ['done'], to: ['done'] }, 'to'],
    ['the same status twice', { from: ['todo', 'todo'] }, 'from'],
    ['the same gate twice', { gates: ['require-plan', 'require-plan'] }, 'gates'],
    ['the same action twice', { actions: ['log-activity', { type: 'log-activity' }] }, 'actions'],
    ['both timers', { actions: ['auto-start-timer', 'auto-stop-timer'] }, 'actions'],
    ['a reason for a block that is none', { gates: ['require-blocker-reason'] }, 'gates'],
    ['neither gate nor action', { gates: [] }, 'gates'],
    ['no project at all', { projects: [] }, 'projects'],
    ['the name of the defaults', { id: 'default' }, 'id'],
  ])('refuse a rule with %s', async (_case, fields, field) => {
    expect(await issuesOf('POST', '/rules', { ...rule, ...fields })).toContain(field);
    expect((await issuesOf('PUT', '', { enabled: true, rules: [{ ...rule, ...fields }] })).join()).toContain(field);
  });

  it('refuse rules with the same id, and defaults that contradict each other', async () => {
    expect(await issuesOf('PATCH', '', { rules: [rule, rule] })).toEqual(['rules.1.id']);
    expect(await issuesOf('PATCH', '', { defaultActions: ['auto-start-timer', 'auto-stop-timer'] })).toEqual([
      'defaultActions',
    ]);
  });

  it('are read and written by administrators only', async () => {
    for (const key of [agentKey, readKey]) {
      expect((await board.call('GET', path, { key })).status).toBe(403);
      expect((await board.call('PATCH', path, { key, body: { enabled: true } })).status).toBe(403);
    }
    expect((await board.call('GET', path, { key: adminKey })).status).toBe(200);
  });

  it('validate a change as a change itself is judged, for an existing task only', async () => {
    await call('PUT', '', { enabled: true, rules: [rule] });
    const { id } = await board.createTask();
    const ask = (toStatus: string) => call('POST', '/validate', { taskId: id, toStatus });
    expect((await ask('in-progress')).body).toEqual({ allowed: true, gateResults: [], failedGates: [] });
    const verdict = (await ask('done')).body;
    const refused = await board.call('PATCH', `/api/tasks/${id}`, { body: { status: 'done' } });
    expect(verdict).toMatchObject({ allowed: false, failedGates: ['require-plan'] });
    expect(refused.body).toMatchObject({
      code: 'VALIDATION_ERROR',
      error: verdict.errorMessage,
      details: { code: 'require-plan', failedGates: verdict.failedGates, gateResults: verdict.gateResults },
    });
    await board.call('PATCH', `/api/tasks/${id}`, { body: { plan: 'First.' } });
    expect((await ask('done')).body).toMatchObject({
      allowed: true,
      gateResults: [{ gate: 'require-plan', passed: true }],
    });
    expect(await call('POST', '/validate', { taskId: 'task_20260101_nobody', toStatus: 'done' })).toMatchObject({
      status: 404,
    });
    expect(await issuesOf('POST', '/validate', { taskId: id, toStatus: 'finished' })).toEqual(['toStatus']);
  });
});
