import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;

describe('launch routing', () => {
  beforeAll(async () => {
    stack = await startStack();
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([
      scriptAgent('worker-bee'),
      { ...scriptAgent('worker-bee'), type: 'writer' },
      { ...scriptAgent('worker-bee'), type: 'specialist' },
      { ...scriptAgent('worker-bee'), type: 'off', enabled: false },
      { type: 'missing', name: 'Missing', provider: 'process', command: '/nowhere/agent' },
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
    ]);
  });
  afterAll(() => stack.close());
  afterEach(async () => {
    await stack.call.ok('PUT', '/api/config/team-roster', { enabled: false, members: [] });
    await configure([]);
  });

  const configure = (rules: object[], fields: object = {}) =>
    stack.call.ok('PUT', '/api/agents/routing', {
      enabled: true,
      rules: rules.map((rule, at) => ({ id: `rule-${at}`, name: `Rule ${at}`, ...rule })),
      defaultAgent: 'worker-bee',
      fallbackOnFailure: true,
      maxRetries: 3,
      ...fields,
    });
  const roster = (...members: object[]) =>
    stack.call.ok('PUT', '/api/config/team-roster', {
      members: members.map((member, at) => ({ id: `member-${at}`, name: `Member ${at}`, ...member })),
    });
  const aTask = (fields: object = {}) => stack.call.createTask({ title: 'Do it', git: { repo: 'sample' }, ...fields });
  const tracesOf = (taskId: string) => stack.call.ok('GET', `/api/governance/traces?kind=routing&taskId=${taskId}`);
  const preview = (taskId: string, body: object = {}) =>
    stack.call.ok('POST', `/api/agents/${taskId}/launch-preview`, body);

  test('a rule decides who runs a task, in the preview and in the start, and leaves one trace', async () => {
    await configure([{ match: { type: 'docs' }, agent: 'writer', fallback: 'specialist' }]);
    const task = await aTask({ type: 'docs', agent: 'auto' });
    const routing = {
      requestedAgent: null,
      selectedAgent: 'writer',
      reason: 'rule-0: The rule Rule 0 matches.',
      fallbackAgent: 'specialist',
      fallbackAllowed: true,
      maxRetries: 3,
    };
    expect((await preview(task.id)).manifest.routing).toMatchObject(routing);
    expect(await stack.call.start(task.id)).toMatchObject({ status: 'running', agent: 'writer' });
    const ended = await stack.call.ended(task.id);
    expect(ended.attempt.completion.status).toBe('success');
    expect(ended.runLaunchManifest.routing).toMatchObject(routing);
    expect(await tracesOf(task.id)).toMatchObject([
      { outcome: 'routed', subject: { agentId: 'writer', actionType: 'launch' }, matchedRules: [{ id: 'rule-0' }] },
    ]);
  });

  test('the team roster decides before the rules, and its profile goes with the run', async () => {
    await stack.call.ok('PUT', '/api/config/profiles/careful', {
      name: 'Careful',
      agent: 'specialist',
      instructions: 'Look twice.',
    });
    await configure([{ match: {}, agent: 'writer' }]);
    await roster({ profileId: 'careful', match: { types: ['code'] } });
    const task = await aTask();
    expect((await preview(task.id)).manifest).toMatchObject({
      routing: { selectedAgent: 'specialist', requestedAgent: null },
      profile: { id: 'careful' },
    });
    await stack.call.start(task.id);
    const { attempt, runLaunchManifest } = await stack.call.ended(task.id);
    expect(attempt).toMatchObject({ agent: 'specialist', completion: { status: 'success' } });
    expect(runLaunchManifest.profile.id).toBe('careful');
    expect(await tracesOf(task.id)).toMatchObject([{ matchedRules: [{ id: 'team-roster:member-0' }] }]);

    const docs = await aTask({ type: 'docs' });
    expect((await preview(docs.id)).manifest.routing.selectedAgent).toBe('writer');
  });

  test('the named agent takes the run, whatever the rules choose', async () => {
    await configure([{ match: {}, agent: 'writer' }]);
    const byTask = await aTask({ agent: 'specialist' });
    expect((await preview(byTask.id)).manifest.routing).toMatchObject({
      requestedAgent: 'specialist',
      selectedAgent: 'specialist',
      reason: 'task.agent',
    });
    const byRequest = await preview(byTask.id, { agent: 'worker-bee' });
    expect(byRequest.manifest.routing).toMatchObject({ selectedAgent: 'worker-bee', reason: 'launch request' });
    expect(await tracesOf(byTask.id)).toEqual([]);
  });

  test('an agent that is off is replaced by its fallback', async () => {
    await configure([{ match: {}, agent: 'off', fallback: 'specialist' }]);
    const task = await aTask();
    expect(await stack.call.start(task.id)).toMatchObject({ agent: 'specialist' });
    await stack.call.ended(task.id);
    expect(await tracesOf(task.id)).toMatchObject([{ outcome: 'fallback' }]);
  });

  test('an agent whose program is not on its host is found out before it is chosen', async () => {
    await configure([{ match: {}, agent: 'missing', fallback: 'specialist' }]);
    const known = await eventually(async () => {
      const { hosts } = await stack.call.ok('POST', '/api/agents/hosts/preview', {});
      const found = hosts[0].candidates.filter(({ source }: { source: string }) => source === 'host');
      expect(found).toHaveLength(4);
      return found;
    });
    expect(known).toContainEqual(
      expect.objectContaining({
        agent: 'missing',
        compatible: false,
        reasons: [expect.objectContaining({ code: 'probe-failed' })],
      }),
    );
    expect(known).toContainEqual(expect.objectContaining({ agent: 'worker-bee', compatible: true, warnings: [] }));
    const task = await aTask();
    expect(await stack.call.start(task.id)).toMatchObject({ agent: 'specialist' });
    await stack.call.ended(task.id);
    expect(await tracesOf(task.id)).toMatchObject([
      { outcome: 'fallback', summary: expect.stringMatching(/Agent missing is not available.*\/nowhere\/agent/) },
    ]);
  });

  test('a launch that no agent can take is refused with its reasons, and nothing runs', async () => {
    await configure([{ match: {}, agent: 'off' }], { fallbackOnFailure: false });
    const task = await aTask();
    for (const path of ['start', 'launch-preview']) {
      const { status, body } = await stack.call.post(`/api/agents/${task.id}/${path}`);
      expect([status, body]).toMatchObject([
        409,
        {
          error: 'No healthy agent available for routing',
          code: 'CONFLICT',
          details: { agent: 'off', routingEnabled: true, reason: expect.stringContaining('disabled') },
        },
      ]);
      const trace = await stack.call.ok('GET', `/api/governance/traces/${body.details.traceId}`);
      expect(trace).toMatchObject({ kind: 'routing', outcome: 'blocked', subject: { taskId: task.id } });
    }
    expect((await stack.call.status(task.id)).attemptId).toBeNull();
  });

  test('the hosts of live workers are evaluated', async () => {
    const { hosts } = await stack.call.ok('POST', '/api/agents/hosts/preview', {});
    expect(hosts).toMatchObject([{ hostId: stack.worker.hostId, compatible: true }]);
  });
});
