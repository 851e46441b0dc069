import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeEach(async () => {
  board = await startTestApi();
  await board.call('PUT', '/api/config/agents', { body: { agents: ['a', 'b'].map((type) => agent(type)) } });
});
afterEach(() => board.close());

const agent = (type: string, fields: object = {}) => ({
  type,
  name: type,
  provider: 'process',
  command: '/usr/bin/true',
  ...fields,
});
const rule = (id: string, fields: object = {}) => ({ id, name: `Rule ${id}`, match: {}, agent: 'b', ...fields });
const configuration = (...rules: object[]) => ({
  enabled: true,
  rules,
  defaultAgent: 'a',
  fallbackOnFailure: true,
  maxRetries: 2,
});
const put = (body: unknown, headers: Record<string, string> = {}) =>
  board.call('PUT', '/api/agents/routing', { body, headers });
const route = (body: object, key = agentKey) => board.call('POST', '/api/agents/route', { body, key });

describe('the routing configuration', () => {
  it('follows from the configured agents until it is set', async () => {
    const { body, headers } = await board.call('GET', '/api/agents/routing', { key: readKey });
    expect(body).toMatchObject({ enabled: true, defaultAgent: 'a', fallbackOnFailure: true, maxRetries: 1 });
    expect(body.rules.map(({ id }: { id: string }) => id)).toEqual([
      'code-high',
      'code-default',
      'bug-high',
      'docs',
      'review',
    ]);
    expect(headers.get('X-Resource-Revision')).toBe('0');
    expect((await put(body)).status).toBe(200);
  });

  it('is set as a whole and read as it was set', async () => {
    const given = configuration(rule('one', { match: { type: ['code', 'bug'], minSubtasks: 2 }, fallback: 'a' }));
    const set = await put(given);
    expect([set.status, set.headers.get('ETag')]).toEqual([200, '"settings:routing:1"']);
    expect((await board.call('GET', '/api/agents/routing')).body).toEqual({
      ...given,
      rules: [{ ...given.rules[0], enabled: true }],
    });
  });

  it('is changed by exactly one of many who have seen the same revision', async () => {
    const writes = Array.from({ length: 8 }, () => put({ ...configuration(), expectedRevision: 0 }));
    expect((await Promise.all(writes)).map(({ status }) => status).sort()).toEqual([
      200,
      ...Array<number>(7).fill(409),
    ]);
    expect((await put(configuration(), { 'If-Match': '"settings:routing:7"' })).body).toMatchObject({
      code: 'CONFLICT',
    });
  });

  it.each([
    ['an agent that is not configured', configuration(rule('x', { agent: 'nobody' })), 'rules.0.agent'],
    ['a fallback that is not configured', configuration(rule('x', { fallback: 'nobody' })), 'rules.0.fallback'],
    ['a default that is not configured', { ...configuration(), defaultAgent: 'nobody' }, 'defaultAgent'],
    ['two rules of one id', configuration(rule('x'), rule('x')), 'rules'],
    ['too many retries', { ...configuration(), maxRetries: 4 }, 'maxRetries'],
    ['an unknown field', { ...configuration(), strategy: 'best' }, 'strategy'],
    ['an unknown field of a match', configuration(rule('x', { match: { label: 'x' } })), 'rules.0.match.label'],
    ['an unknown priority', configuration(rule('x', { match: { priority: 'asap' } })), 'rules.0.match.priority'],
  ])('is refused with %s, and nothing changes', async (_case, body, path) => {
    const refused = await put(body);
    expect([refused.status, refused.body.details.issues[0].path]).toEqual([400, path]);
    expect((await board.call('GET', '/api/agents/routing')).headers.get('X-Resource-Revision')).toBe('0');
  });

  it('is written by administrators only', async () => {
    expect((await board.call('PUT', '/api/agents/routing', { body: configuration(), key: agentKey })).status).toBe(403);
  });
});

describe('routing some work', () => {
  it('answers the agent, the rule, one selected manifest, and a trace that reports why', async () => {
    await put(configuration(rule('docs', { match: { type: 'docs' } })));
    const { status, body } = await route({ type: 'docs', priority: 'low' });
    expect([status, body]).toMatchObject([
      200,
      { agent: 'b', model: null, rule: 'docs', reason: 'The rule Rule docs matches.', profileId: null },
    ]);
    expect(body.runtimeCandidates.filter(({ selected }: { selected: boolean }) => selected)).toHaveLength(1);
    expect(body.runtimeSelection).toMatchObject({
      requiredCapabilities: [],
      compatible: true,
      selectedManifest: { provider: 'process', compatible: true, manifestDigest: expect.stringMatching(/^sha256:/) },
    });
    const trace = (await board.call('GET', `/api/governance/traces/${body.traceId}`)).body;
    expect(trace).toMatchObject({
      kind: 'routing',
      outcome: 'routed',
      subject: { agentId: 'b', actionType: 'route' },
      matchedRules: [{ id: 'docs', type: 'routing-rule', outcome: 'routed' }],
      raw: { work: { type: 'docs', priority: 'low' }, rule: 'docs' },
    });
  });

  it('of a task reads the task', async () => {
    await put(configuration(rule('big', { match: { type: 'code', project: 'atlas', minSubtasks: 2 } })));
    const subtasks = [1, 2].map((n) => ({ id: `s${n}`, title: `Part ${n}` }));
    const create = async (fields: object) =>
      (await board.call('POST', '/api/tasks', { body: { title: 'Work', ...fields } })).body.id as string;
    const big = await create({ project: 'atlas', subtasks });
    const small = await create({ project: 'atlas', subtasks: subtasks.slice(1) });
    expect((await route({ taskId: big })).body).toMatchObject({ agent: 'b', rule: 'big' });
    expect((await route({ taskId: small })).body).toMatchObject({ agent: 'a', rule: null });
    const [trace] = (await board.call('GET', `/api/governance/traces?taskId=${big}`)).body;
    expect(trace).toMatchObject({ kind: 'routing', subject: { taskId: big } });
  });

  it('takes the fallback of an agent that is not available, and reports it', async () => {
    await board.call('PUT', '/api/config/agents', { body: [agent('a'), agent('b', { enabled: false })] });
    await put(configuration(rule('x')));
    const { body } = await route({});
    expect(body).toMatchObject({ agent: 'a', rule: 'x', reason: expect.stringContaining('Agent b is disabled') });
    const [trace] = (await board.call('GET', '/api/governance/traces?outcome=fallback')).body;
    expect(trace).toMatchObject({
      id: body.traceId,
      steps: [
        { label: 'b', status: 'not-matched' },
        { label: 'a', status: 'matched' },
      ],
    });
  });

  it('that no agent can take is refused with every manifest that was rejected', async () => {
    const { status, body } = await route({ type: 'code', requiredRuntimeCapabilities: ['run.fork', 'run.start'] });
    expect([status, body.code]).toEqual([409, 'CAPABILITY_UNSUPPORTED']);
    expect(body.details).toMatchObject({
      agent: 'a',
      routingEnabled: true,
      requiredCapabilities: ['run.fork', 'run.start'],
      remediation: expect.any(String),
    });
    for (const each of body.details.runtimeCandidates) {
      expect(each).toMatchObject({ compatible: false, selected: false });
    }
    expect(body.details.reasons[0]).toMatchObject({ code: 'capability-unsupported', capabilityId: 'run.fork' });
    const trace = await board.call('GET', `/api/governance/traces/${body.details.traceId}`);
    expect(trace.body).toMatchObject({ outcome: 'blocked', remediation: expect.any(String) });
  });

  it('without available agents is refused as a conflict', async () => {
    await board.call('PUT', '/api/config/agents', { body: [] });
    expect((await route({ type: 'code' })).body).toMatchObject({
      error: 'No healthy agent available for routing',
      code: 'CONFLICT',
      details: { agent: null, routingEnabled: true, reason: expect.any(String) },
    });
  });

  it.each([
    ['a task and more', { taskId: 'task_20260101_aaaaaa', type: 'code' }, 'taskId'],
    ['an unknown field', { kind: 'code' }, 'kind'],
    ['a hostile task', { taskId: '../../etc' }, 'taskId'],
    ['a capability that is none', { requiredRuntimeCapabilities: ['DROP TABLE'] }, 'requiredRuntimeCapabilities.0'],
    ['a negative count', { subtaskCount: -1 }, 'subtaskCount'],
  ])('is refused with %s', async (_case, body, path) => {
    const refused = await route(body);
    expect([refused.status, refused.body.details.issues[0].path]).toEqual([400, path]);
  });

  it('of a task that is not there is not found', async () => {
    expect((await route({ taskId: 'task_20260101_aaaaaa' })).status).toBe(404);
  });
});

describe('hosts', () => {
  const preview = (body: object) => board.call('POST', '/api/agents/hosts/preview', { body, key: agentKey });

  it('are none without a worker', async () => {
    expect((await preview({})).body).toMatchObject({ requiredCapabilities: [], hosts: [] });
  });

  it('are reported one by one, with what each could run and why not the rest', async () => {
    const { routing } = board.api.context;
    await routing.hosts.announce('one', 'One');
    await routing.hosts.announce('two', 'Two');
    expect((await board.call('GET', '/api/agents/hosts')).body.hosts).toHaveLength(2);
    const able = (await preview({ requiredRuntimeCapabilities: ['usage.tokens'] })).body;
    expect(able.hosts).toMatchObject([
      { compatible: true, candidates: [{ agent: 'a', compatible: true }, { agent: 'b' }] },
      { compatible: true },
    ]);
    const unable = (await preview({ requiredRuntimeCapabilities: ['run.fork'] })).body;
    expect(unable.hosts).toMatchObject([{ compatible: false }, { compatible: false }]);
    expect(unable.hosts[0].candidates[0].reasons).toMatchObject([{ capabilityId: 'run.fork', state: 'unsupported' }]);
    expect((await route({})).body.runtimeCandidates).toHaveLength(2);
  });
});
