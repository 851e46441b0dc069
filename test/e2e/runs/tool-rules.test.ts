import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { exampleAgent } from '../../support/runs/example-agent';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;

describe('runs under rules', () => {
  beforeAll(async () => {
    stack = await startStack();
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    const questions = [
      { id: 'push', action: 'publish it', actionClass: 'network' },
      { id: 'list', action: 'list the files', actionClass: 'shell' },
    ];
    await stack.call.configureAgents([
      { ...exampleAgent(stack.dir), permissions: 'allow' },
      scriptAgent('asking-bee', JSON.stringify(questions)),
      scriptAgent('worker-bee'),
    ]);
  });
  afterAll(() => stack.close());

  let projects = 0;
  const aProject = () => `project-${(projects += 1)}`;
  const aPolicy = (project: string, policy: object) =>
    stack.call.ok('POST', '/api/policies', { name: 'A rule', scope: { projects: [project] }, ...policy });
  const begin = async (project: string, launch: object, description = 'ask run the tests') => {
    const { id } = await stack.call.createTask({ title: 'x', description, git: { repo: 'sample' }, project });
    return { id, ...(await stack.call.start(id, launch)) };
  };
  const run = async (project: string, agent: string, launch: object = {}) =>
    stack.call.ended((await begin(project, { agent, ...launch })).id);
  const summaryOf = async (project: string, launch: object = {}): Promise<string> =>
    (await run(project, 'scripted', launch)).attempt.completion.summary;

  test('a tool that a policy denies is refused, whatever the agent is configured to allow', async () => {
    expect(await summaryOf(aProject())).toBe('The answer was yes.');
    const project = aProject();
    const { id } = await aPolicy(project, { rules: [{ tool: 'execute', action: '*', effect: 'deny' }] });
    expect(await summaryOf(project)).toBe('The answer was no.');
    const [trace] = await stack.call.ok('GET', '/api/governance/traces?kind=policy&outcome=blocked&actionType=tool');
    expect(trace).toMatchObject({ subject: { agentId: 'scripted' }, matchedRules: [{ id }] });
  });

  test('the network is one of the names of a tool that reaches it, and is denied to an agent that asks', async () => {
    const project = aProject();
    await aPolicy(project, { rules: [{ action: 'network', effect: 'deny' }] });
    await aPolicy(project, { rules: [{ tool: 'shell', action: '*', effect: 'deny' }] });
    const { attempt, taskEnvelope } = await run(project, 'asking-bee');
    expect(attempt.completion.summary).toMatch(/^list=rejected \(A rule: .*; push=rejected \(A rule: /);
    expect(existsSync(join(taskEnvelope.workspace.path, 'push.txt'))).toBe(false);
  });

  test('the tool policy of the role that a profile names limits its runs', async () => {
    const profile = { name: 'Reads', agent: 'scripted', enabled: true };
    await stack.call.ok('PUT', '/api/config/profiles/only-reads', profile);
    expect(await summaryOf(aProject(), { profileId: 'only-reads' })).toBe('The answer was yes.');
    await stack.call.ok('POST', '/api/tool-policies', { role: 'only-reads', allowed: ['read*'], denied: [] });
    expect(await summaryOf(aProject(), { profileId: 'only-reads' })).toBe('The answer was no.');
    const [trace] = await stack.call.ok('GET', '/api/governance/traces?kind=tool-policy&outcome=blocked');
    expect(trace).toMatchObject({ matchedRules: [{ id: 'only-reads', type: 'tool-policy' }] });
    await stack.call.ok('PUT', '/api/tool-policies/only-reads', { allowed: ['*'], denied: ['shell'] });
    expect(await summaryOf(aProject(), { profileId: 'only-reads' })).toBe('The answer was no.');
  });

  test('a restriction of the agent is one of its tools too', async () => {
    await stack.call.ok('PATCH', '/api/agents/permissions/scripted', { restrictions: ['execute'] });
    expect(await summaryOf(aProject())).toBe('The answer was no.');
    await stack.call.ok('PATCH', '/api/agents/permissions/scripted', { restrictions: [] });
  });

  test('an agent reaches hosts that are not its trusted domains only with an approval', async () => {
    const trust = (trustedDomains: string[]) =>
      stack.call.ok('PATCH', '/api/agents/permissions/scripted', { trustedDomains });
    const fetching = (url: string) => begin(aProject(), { agent: 'scripted' }, `ask fetch ${url} read it`);
    const answerOf = async ({ id }: { id: string }) => (await stack.call.ended(id)).attempt.completion.summary;
    expect(await answerOf(await fetching('https://other.test/x'))).toBe('The answer was yes.');
    await trust(['Example.org', '*.example.org']);
    for (const url of ['https://example.org/x', 'https://docs.example.org:8443/']) {
      expect(await answerOf(await fetching(url))).toBe('The answer was yes.');
    }
    for (const [url, host] of [
      ['https://example.org@other.test/x', 'other.test'],
      ['nowhere', 'A host that is not stated'],
    ] as const) {
      const asked = await fetching(url);
      const approval = await eventually(async () => {
        const found = await stack.call.ok('GET', `/api/run-approvals?attemptId=${asked.attemptId}&status=pending`);
        expect(found).toHaveLength(1);
        return found[0];
      });
      const [trace] = await stack.call.ok('GET', `/api/governance/traces?taskId=${asked.id}&outcome=approval-required`);
      expect(trace).toMatchObject({
        kind: 'agent-permission',
        summary: `${host} is not among the trusted domains of scripted.`,
        matchedRules: [{ id: 'scripted', label: 'trusted-domains' }],
      });
      await stack.call.ok('POST', `/api/run-approvals/${approval.id}/decision`, {
        expectedRevision: approval.revision,
        expectedActionHash: approval.actionHash,
        decision: 'rejected',
      });
      expect(await answerOf(asked)).toBe('The answer was no.');
    }
    await trust([]);
  });

  test('a run does not complete its task against a policy, nor one of an intern without a review', async () => {
    const project = aProject();
    await aPolicy(project, { rules: [{ action: 'complete-task', effect: 'deny' }] });
    const blocked = async (under: string) => {
      const { attempt } = await run(under, 'worker-bee');
      expect(attempt.completion.status).toBe('success');
      return stack.call.ok('GET', `/api/tasks/${attempt.taskId}`);
    };
    expect(await blocked(project)).toMatchObject({
      status: 'blocked',
      blockedReason: { category: 'prerequisite', note: expect.stringContaining('A rule: deny') },
    });
    await stack.call.ok('PUT', '/api/agents/permissions/worker-bee/level', { level: 'intern' });
    expect(await blocked(aProject())).toMatchObject({
      status: 'blocked',
      blockedReason: { note: expect.stringContaining('its results go to review') },
    });
  });
});
