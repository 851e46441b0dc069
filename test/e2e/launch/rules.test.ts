import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;

describe('launches under rules', () => {
  beforeAll(async () => {
    stack = await startStack({ BOARD_MAX_RUNS: '1', BOARD_RUN_RETRIES: '1', BOARD_RETRY_BACKOFF_MS: '10' });
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
      { ...scriptAgent('misbehaving', 'rate-limited'), type: 'limited' },
    ]);
  });
  afterAll(() => stack.close());

  let projects = 0;
  const aProject = () => `project-${(projects += 1)}`;
  const aTask = (project: string, fields: object = {}) =>
    stack.call.createTask({ title: 'Do it', agent: 'elsewhere', project, ...fields });
  const aPolicy = async (project: string, policy: object): Promise<string> =>
    (await stack.call.ok('POST', '/api/policies', { name: 'A rule', scope: { projects: [project] }, ...policy })).id;
  const deny = (action: string) => ({ rules: [{ action, effect: 'deny' }] });
  const start = (taskId: string, body: object = {}) => stack.call.post(`/api/agents/${taskId}/start`, body);
  const stop = ({ taskId, attemptId }: { taskId: string; attemptId: string }) =>
    stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });
  const review = (approval: string, decision: string) =>
    stack.call.ok('POST', `/api/agents/permissions/approvals/${approval}`, { decision });
  const attemptsOf = async (taskId: string) =>
    (await stack.call.ok('GET', `/api/agents/${taskId}/attempts`)).attempts as { state: string }[];

  test('a policy that denies everything refuses a start and its preview, and nothing is recorded', async () => {
    const project = aProject();
    const { id } = await aTask(project);
    const policy = await aPolicy(project, deny('*'));
    const refused = await start(id);
    expect(refused).toMatchObject({
      status: 403,
      body: {
        code: 'POLICY_BLOCKED',
        details: { policy, rule: 0, reason: 'A rule: deny: tool *, action *', remedy: expect.stringContaining(policy) },
      },
    });
    expect(refused.body.details.next).toMatchObject({ method: 'GET', path: `/api/policies/${policy}` });
    const trace = await stack.call.ok('GET', `/api/governance/traces/${refused.body.details.traceId}`);
    expect(trace).toMatchObject({
      kind: 'policy',
      outcome: 'blocked',
      subject: { taskId: id, agentId: 'elsewhere', actionType: 'launch' },
      matchedRules: [{ id: policy }],
    });
    expect((await stack.call.post(`/api/agents/${id}/launch-preview`)).status).toBe(403);
    expect(await attemptsOf(id)).toEqual([]);
    await stack.call.ok('DELETE', `/api/policies/${policy}`);
    await stop((await start(id)).body);
  });

  test.each([
    ['the level of the agent', { scope: { agentLevel: 'lead' }, ...deny('launch') }],
    ['the agent', { scope: { agents: ['elsewhere'] }, ...deny('*') }],
    ['the risk of its phase', { type: 'risk-threshold', config: { threshold: 50 } }],
    ['the type of the action', { type: 'block-action-type', config: { actionTypes: ['spend'] } }],
  ])('a policy on %s refuses a start', async (_case, policy) => {
    await stack.call.ok('PUT', '/api/agents/permissions/elsewhere/level', { level: 'lead' });
    const project = aProject();
    const { id } = await aTask(project);
    const scope = { projects: [project], ...('scope' in policy ? policy.scope : {}) };
    await aPolicy(project, { ...policy, scope });
    expect((await start(id)).body).toMatchObject({ code: 'POLICY_BLOCKED' });
  });

  test('a warning is part of the response and of its repetition', async () => {
    const project = aProject();
    const { id } = await aTask(project);
    await aPolicy(project, { rules: [{ effect: 'warn' }] });
    const headers = { 'x-idempotency-key': `warned-${id}` };
    const first = await stack.call.post(`/api/agents/${id}/start`, {}, headers);
    expect(first).toMatchObject({ status: 201, body: { warnings: ['A rule: warn: tool *, action *'] } });
    const again = await stack.call.post(`/api/agents/${id}/start`, {}, headers);
    expect(again.body).toMatchObject({ warnings: first.body.warnings, replayed: true });
    await stop(first.body);
  });

  test('a rate limit counts each start once, whatever asks about it', async () => {
    const project = aProject();
    const config = { maxAttempts: 2, windowMs: 31 * 86_400_000, scopeKey: 'project' };
    await aPolicy(project, { type: 'rate-limit', config, scope: { projects: [project], actionTypes: ['launch'] } });
    for (const expected of [201, 201, 403]) {
      const answer = await start((await aTask(project)).id);
      expect(answer.status).toBe(expected);
      await (expected === 201 ? stop(answer.body) : undefined);
    }
  });

  describe('a required approval', () => {
    it('is requested once, lets one start through, and no second one', async () => {
      const project = aProject();
      const { id } = await aTask(project);
      const policy = await aPolicy(project, { type: 'require-approval' });
      const refused = await start(id);
      expect(refused).toMatchObject({
        status: 409,
        body: { code: 'APPROVAL_REQUIRED', details: { policy, approval: { status: 'pending' } } },
      });
      const { approval } = refused.body.details;
      const path = `/api/agents/permissions/approvals/${approval.id}`;
      expect(refused.body.details.next).toMatchObject({ method: 'POST', path });
      expect((await start(id)).body.details.approval).toEqual(approval);
      const [pending] = await stack.call.ok('GET', '/api/agents/permissions/approvals?agentId=elsewhere');
      expect(pending).toMatchObject({ id: approval.id, action: 'launch', taskId: id, policies: [policy] });
      expect(pending.details).toMatchObject({ agent: 'elsewhere', phase: 'implement' });

      await review(approval.id, 'approved');
      const started = await start(id);
      expect(started.status).toBe(201);
      await stop(started.body);
      const another = await start(id);
      expect(another.status).toBe(409);
      expect(another.body.details.approval.id).not.toBe(approval.id);
    });

    it('is of exactly the launch that was asked about', async () => {
      const project = aProject();
      const { id } = await aTask(project);
      await aPolicy(project, { type: 'require-approval' });
      const { approval } = (await start(id)).body.details;
      await review(approval.id, 'approved');
      expect((await start(id, { phase: 'explore' })).status).toBe(409);
      await stop((await start(id)).body);
    });

    it('blocks once it is rejected', async () => {
      const project = aProject();
      const { id } = await aTask(project);
      await aPolicy(project, { type: 'require-approval' });
      await review((await start(id)).body.details.approval.id, 'rejected');
      expect((await start(id)).body).toMatchObject({ code: 'POLICY_BLOCKED' });
    });

    it('is reviewed by the approvers that the policy names alone', async () => {
      const project = aProject();
      const { id } = await aTask(project);
      await aPolicy(project, { type: 'require-approval', config: { approvers: ['ada'] } });
      const { approval } = (await start(id)).body.details;
      const path = `/api/agents/permissions/approvals/${approval.id}`;
      const refused = await stack.call.post(path, { decision: 'approved' });
      expect(refused).toMatchObject({ status: 403, body: { details: { approvers: ['ada'] } } });
    });
  });

  test('a launch that waits is refused when a policy forbids it by then, and frees its task', async () => {
    const first = (await start((await aTask(aProject())).id)).body;
    const project = aProject();
    const { id } = await aTask(project);
    const queued = (await start(id)).body;
    expect(queued.status).toBe('queued');
    const policy = await aPolicy(project, deny('launch'));
    await stop(first);
    const { attempt } = await stack.call.ended(id);
    expect(attempt.completion).toMatchObject({ status: 'failed', harness: { ended: 'not-dispatched' } });
    const { entry } = await stack.call.ok('GET', `/api/admission/queue/${queued.queueId}`);
    expect(entry).toMatchObject({ state: 'terminal', outcome: { code: 'POLICY_BLOCKED' } });
    expect(entry.outcome.reason).toContain(policy);
    await stack.call.ok('DELETE', `/api/policies/${policy}`);
    await stop((await start(id)).body);
  });

  test('a retry asks again: a policy that came meanwhile ends the run', async () => {
    const project = aProject();
    const { id } = await aTask(project, { agent: 'limited', git: { repo: 'sample' } });
    await aPolicy(project, deny('retry'));
    expect((await start(id)).status).toBe(201);
    await eventually(async () =>
      expect(await stack.call.ok('GET', `/api/agents/${id}/recovery`)).toMatchObject({
        refusal: { code: 'POLICY_BLOCKED' },
      }),
    );
  });

  test('a scheduled launch asks: its outcome names which policy refused it', async () => {
    const project = aProject();
    const { id: taskId } = await aTask(project);
    await aPolicy(project, deny('scheduled-launch'));
    const { id } = await stack.call.ok('POST', '/api/scheduled-launches', { taskId, spec: { cron: '0 3 * * *' } });
    await stack.call.post(`/api/scheduled-launches/${id}/trigger`);
    await eventually(async () =>
      expect(await stack.call.ok('GET', `/api/scheduled-launches/${id}`)).toMatchObject({
        lastOutcome: { status: 'refused', code: 'POLICY_BLOCKED' },
      }),
    );
    expect((await start(taskId)).status).toBe(201);
  });
});
