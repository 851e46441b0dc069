import { agentKey, type ApiUnderTest, type CallOptions, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const call = (method: string, rest = '', options: CallOptions = {}) =>
  board.call(method, `/api/policies${rest}`, options);
const evaluate = async (body: object) => (await call('POST', '/evaluate', { body, key: agentKey })).body;
let projects = 0;
/** A project of its own: what other tests make is not about it. */
const aProject = () => `project-${(projects += 1)}`;
const create = (project: string, body: object) =>
  call('POST', '', { body: { name: 'A policy', scope: { projects: [project] }, ...body } });

it('have three presets from the first start, turned off', async () => {
  const { body } = await call('GET', '?enabled=false', { key: readKey });
  expect(body.map(({ id }: { id: string }) => id)).toEqual(
    expect.arrayContaining(['strict', 'balanced', 'permissive']),
  );
  expect((await call('GET', '/balanced')).body).toMatchObject({
    type: 'risk-threshold',
    responseAction: 'require-approval',
    config: { threshold: 65 },
  });
  expect((await evaluate({ actionType: 'anything', riskScore: 100 })).decision).toBe('allow');
});

it('are made with rules, read, written over and deleted', async () => {
  const rules = [{ tool: 'bash', action: 'execute', effect: 'deny' }];
  const body = {
    name: '<b>No shell</b>',
    description: 'Not here',
    scope: { agentLevel: 'intern' },
    rules,
    precedence: 5,
  };
  const made = await call('POST', '', { body });
  expect(made).toMatchObject({
    status: 201,
    body: { ...body, name: 'No shell', type: 'rules', enabled: true, revision: 1 },
  });
  const { id } = made.body;
  expect(id).toMatch(/^policy_[0-9a-f]{12}$/);
  expect((await call('GET', `/${id}`, { key: readKey })).body).toEqual(made.body);

  const limit = { name: 'Slow', type: 'rate-limit', config: { maxAttempts: 1, windowMs: 1000, scopeKey: 'global' } };
  const headers = { 'If-Match': `"policies:${id}:1"` };
  const replies = await Promise.all([1, 2, 3].map(() => call('PUT', `/${id}`, { body: limit, headers })));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  const { body: written } = await call('GET', `/${id}`);
  expect(written).toMatchObject({ ...limit, id, responseAction: 'block', revision: 2 });
  expect(written).not.toHaveProperty('rules');

  expect(await call('DELETE', `/${id}`, { headers })).toMatchObject({
    status: 409,
    body: { details: { current: { id, revision: 2 } } },
  });
  expect((await call('DELETE', `/${id}`)).status).toBe(204);
  for (const [method, sent] of [['GET'], ['PUT', limit], ['DELETE']] as const) {
    expect(await call(method, `/${id}`, { body: sent })).toMatchObject({ status: 404 });
  }
});

it('may be given an id, which is then taken', async () => {
  const body = { id: 'mine', name: 'Mine', type: 'require-approval' };
  expect(await call('POST', '', { body: { ...body, enabled: false } })).toMatchObject({
    status: 201,
    body: { id: 'mine', responseAction: 'require-approval', config: { reason: '', approvers: [] } },
  });
  expect(await call('POST', '', { body })).toMatchObject({ status: 409, body: { details: { resourceId: 'mine' } } });
});

it.each<[string, object, string]>([
  ['no rules', { name: 'x' }, 'rules'],
  ['an effect that is none', { name: 'x', rules: [{ effect: 'maybe' }] }, 'rules.0.effect'],
  ['a type that is none', { name: 'x', type: 'webhook-check' }, 'type'],
  ['a threshold above 100', { name: 'x', type: 'risk-threshold', config: { threshold: 101 } }, 'config.threshold'],
  ['a rate without a window', { name: 'x', type: 'rate-limit', config: { maxAttempts: 1 } }, 'config.windowMs'],
  ['rules in another form', { name: 'x', type: 'require-approval', rules: [] }, 'rules'],
  [
    'a scope that is global and not',
    { name: 'x', rules: [{ effect: 'deny' }], scope: { global: true, agents: ['a'] } },
    'scope.global',
  ],
  ['a field that is none', { name: 'x', rules: [{ effect: 'deny' }], mood: 1 }, 'mood'],
  ['a name of nothing but tags', { name: '<b>', rules: [{ effect: 'deny' }] }, 'name'],
])('are refused with %s by its path', async (_case, body, path) => {
  const refused = await call('POST', '', { body });
  expect(refused).toMatchObject({ status: 400, body: { details: { issues: [{ path }] } } });
});

it('are listed by the agent and the project that they are about', async () => {
  const project = aProject();
  const { body: forAnt } = await call('POST', '', {
    body: { name: 'Ant', type: 'require-approval', scope: { agents: ['ant-1'], projects: [project] } },
  });
  const ids = async (query: string) => (await call('GET', query)).body.map(({ id }: { id: string }) => id);
  expect(await ids(`?agent=ant-1&project=${project}&enabled=true`)).toContain(forAnt.id);
  expect(await ids(`?agent=bee-1`)).not.toContain(forAnt.id);
  expect(await ids(`?agent=bee-1`)).toContain('balanced');
  expect(await ids(`?project=other`)).not.toContain(forAnt.id);
  expect(await ids(`?enabled=false`)).not.toContain(forAnt.id);
});

it('let the strictest decide, and write down why', async () => {
  const project = aProject();
  const allow = await create(project, { rules: [{ effect: 'allow' }], precedence: 100 });
  const warn = await create(project, { name: 'Careful', rules: [{ action: 'write', effect: 'warn' }] });
  const approve = await create(project, { type: 'require-approval' });
  const block = await create(project, { type: 'risk-threshold', config: { threshold: 50 } });
  await create(project, { rules: [{ effect: 'deny' }], enabled: false });

  const answer = await evaluate({ agent: 'ant', project, actionType: 'write', riskScore: 60 });
  expect(answer).toMatchObject({
    decision: 'block',
    warnings: ['Careful: warn: tool *, action write'],
    blockedBy: [block.body.id],
    approvalRequiredBy: [approve.body.id],
  });
  expect(answer.matches[0]).toMatchObject({ policyId: allow.body.id, decision: 'allow', rule: 0 });
  expect(answer.matches).toHaveLength(4);
  expect((await board.call('GET', `/api/governance/traces/${answer.traceId}`)).body).toMatchObject({
    kind: 'policy',
    outcome: 'blocked',
    subject: { agentId: 'ant', actionType: 'write' },
    matchedRules: expect.arrayContaining([expect.objectContaining({ id: warn.body.id, outcome: 'warned' })]),
  });
  expect((await evaluate({ project, actionType: 'write', riskScore: 40 })).decision).toBe('require-approval');
  expect((await evaluate({ project: aProject(), actionType: 'write', riskScore: 60 })).decision).toBe('allow');
});

it('go by the level of the agent', async () => {
  const project = aProject();
  await create(project, { scope: { agentLevel: 'intern', projects: [project] }, rules: [{ effect: 'deny' }] });
  await board.call('PUT', '/api/agents/permissions/novice/level', { body: { level: 'intern' } });
  expect((await evaluate({ agent: 'novice', project, actionType: 'x' })).decision).toBe('block');
  expect((await evaluate({ agent: 'expert', project, actionType: 'x' })).decision).toBe('allow');
  expect((await evaluate({ project, actionType: 'x' })).decision).toBe('allow');
});

describe('a rate limit', () => {
  // A window of a month: no test runs into its end unless it begins within it.
  const limited = (project: string, scopeKey: string, maxAttempts = 5) =>
    create(project, { type: 'rate-limit', config: { maxAttempts, windowMs: 31 * 86_400_000, scopeKey } });

  it('counts exactly, however many ask at once', async () => {
    const project = aProject();
    await limited(project, 'agent');
    const ask = (agent: string) => evaluate({ agent, project, actionType: 'x' });
    const decisions = (await Promise.all(Array.from({ length: 12 }, () => ask('ant')))).map(({ decision }) => decision);
    expect(decisions.filter((decision) => decision === 'allow')).toHaveLength(5);
    expect(decisions.filter((decision) => decision === 'block')).toHaveLength(7);
    expect((await ask('bee')).decision).toBe('allow');
  });

  it('counts nothing for a preview, which reports what would be decided', async () => {
    const project = aProject();
    await limited(project, 'project', 1);
    const ask = async (preview: boolean) => (await evaluate({ project, actionType: 'x', preview })).decision;
    expect([await ask(true), await ask(true), await ask(false), await ask(true), await ask(false)]).toEqual([
      ...['allow', 'allow', 'allow'],
      ...['block', 'block'],
    ]);
  });

  it('counts actions of a type together', async () => {
    const project = aProject();
    await limited(project, 'action-type', 1);
    const ask = async (agent: string, actionType: string) => (await evaluate({ agent, project, actionType })).decision;
    expect(await ask('ant', 'x')).toBe('allow');
    expect(await ask('bee', 'x')).toBe('block');
    expect(await ask('ant', 'y')).toBe('allow');
  });
});

it.each([
  [{}, 'actionType'],
  [{ actionType: 'x', riskScore: 101 }, 'riskScore'],
  [{ actionType: 'x', agent: 'a b' }, 'agent'],
  [{ actionType: 'x', dryRun: true }, 'dryRun'],
])('refuse the question %p by the path of the field', async (body, path) => {
  expect(await call('POST', '/evaluate', { body })).toMatchObject({
    status: 400,
    body: { details: { issues: [{ path }] } },
  });
});

it('need policy:read to be read, policy:write to be changed and agent:read to be asked', async () => {
  expect(await call('GET', '', { key: agentKey })).toMatchObject({ status: 403 });
  const body = { name: 'x', rules: [{ effect: 'deny' }] };
  expect(await call('POST', '', { body, key: agentKey })).toMatchObject({ status: 403 });
  expect(await call('PUT', '/strict', { body, key: agentKey })).toMatchObject({ status: 403 });
  expect(await call('DELETE', '/strict', { key: readKey })).toMatchObject({ status: 403 });
});
