import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { governedActions } from '../../../domain/governance/action';
import { eventually } from '../../../platform/testing/eventually';
import { aReceiver } from '../../services/receiver';
import { type Answer, Caller, scriptAgent } from '../../support/caller';
import { changeFeatures } from '../../support/change-features';
import { aRepository } from '../../support/git/repository';
import { exampleAgent } from '../../support/runs/example-agent';
import { type SecuredStack, startSecuredStack } from '../../support/stack/secured-stack';

let secured: SecuredStack;
let admin: Caller;
let handleFile: string;

/** Every action of the table, done by a real request or run; it answers what came of it. */
type Doing = (project: string) => Promise<() => Promise<unknown>>;

const aTask = async (project: string, fields: object = {}): Promise<string> =>
  (await admin.createTask({ title: 'Do it', project, git: { repo: 'sample' }, ...fields })).id;
const codeOf = ({ status, body }: Answer): unknown => (status < 400 ? 'done' : body.code);
const started = (project: string) => async () => codeOf(await admin.post(`/api/agents/${await aTask(project)}/start`));

/** What an agent is told of a tool that it asks for. */
const usedTool =
  (line: string): Doing =>
  async (project) =>
  async () => {
    const id = await aTask(project, { description: line });
    await admin.start(id, { agent: 'scripted' });
    const { attempt } = await admin.ended(id);
    return attempt.completion.summary === 'The answer was no.' ? 'POLICY_BLOCKED' : 'done';
  };

const withWorktree = async (project: string) => {
  const id = await aTask(project);
  await admin.ok('POST', `/api/tasks/${id}/worktree`, {});
  return `/api/tasks/${id}/worktree`;
};

const doings: Record<(typeof governedActions)[number], Doing> = {
  launch: async (project) => started(project),
  spend: async (project) => started(project),
  delegate: async (project) => {
    const parent = await aTask(aProject(), { agent: 'handle-bearer' });
    await admin.start(parent, { commitPolicy: 'forbidden' });
    const { handle } = await eventually(async () => JSON.parse(await readFile(handleFile, 'utf8')));
    const headers = { 'X-Board-Attempt-Handle': handle };
    const taskId = await aTask(project, { agent: 'elsewhere', git: undefined });
    return async () => codeOf(await new Caller(secured.stack.url).post('/api/run-children', { taskId }, headers));
  },
  continuation: async (project) => {
    const id = await aTask(project);
    const { attemptId: sourceAttemptId } = await admin.start(id, { agent: 'rememberer' });
    await admin.ended(id);
    return async () =>
      codeOf(await admin.post(`/api/agents/${id}/conversation/continue`, { sourceAttemptId, message: 'x' }));
  },
  tool: usedTool('ask run the tests'),
  network: usedTool('ask fetch https://example.org/ read it'),
  'create-task': async (project) => async () => codeOf(await admin.post('/api/tasks', { title: 'a', project })),
  'update-task': async (project) => {
    const id = await aTask(project);
    return async () => codeOf(await admin.send('PATCH', `/api/tasks/${id}`, { title: 'b' }));
  },
  'complete-task': async (project) => {
    const id = await aTask(project);
    return async () => codeOf(await admin.send('PATCH', `/api/tasks/${id}`, { status: 'done' }));
  },
  'delete-task': async (project) => {
    const id = await aTask(project);
    return async () => codeOf(await admin.send('DELETE', `/api/tasks/${id}`));
  },
  merge: async (project) => {
    const path = await withWorktree(project);
    return async () => codeOf(await admin.post(`${path}/merge`, {}));
  },
  force: async (project) => {
    const path = await withWorktree(project);
    return async () => codeOf(await admin.send('DELETE', `${path}?force=true&reason=because`));
  },
  'external-message': async (project) => {
    const receiver = await aReceiver();
    const action = { type: 'webhook', url: receiver.url };
    const filter = { project };
    const hook = await admin.ok('POST', '/api/hooks', { name: 'Tell', event: 'task.blocked', filter, action });
    const taskId = await aTask(project);
    return async () => {
      await admin.ok('POST', '/api/hooks/fire', { event: 'task.blocked', taskId });
      const state = await eventually(async () => {
        const [last] = await admin.ok('GET', `/api/hooks/executions?hookId=${hook.id}`);
        expect(receiver.received).toHaveLength(last.state === 'blocked' ? 0 : 1);
        return last.state;
      });
      await receiver.close();
      return state === 'blocked' ? 'POLICY_BLOCKED' : state;
    };
  },
};

let projects = 0;
const aProject = () => `project-${(projects += 1)}`;
const aPolicy = async (project: string, policy: object): Promise<string> =>
  (await admin.ok('POST', '/api/policies', { name: 'A rule', scope: { projects: [project] }, ...policy })).id;
const deny = (action: string) => ({ rules: [{ action, effect: 'deny' }] });
const watcher = (fields: object) => changeFeatures(admin, { watcher: fields });

describe('every action that rules can speak of', () => {
  beforeAll(async () => {
    secured = await startSecuredStack({ BOARD_WEBHOOK_ALLOW_PRIVATE: 'true' });
    ({ admin } = secured);
    const { dir } = secured.stack;
    handleFile = join(dir, 'handle.json');
    await admin.addRepository('sample', await aRepository(dir));
    await admin.configureAgents([
      { ...exampleAgent(dir), permissions: 'allow' },
      { ...scriptAgent('handle-bearer', handleFile), launchesChildren: true },
      scriptAgent('rememberer'),
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
    ]);
    await watcher({ enabled: true, globalKillSwitch: false, defaultMode: 'auto', spendCapUsd: 1_000 });
  });
  afterAll(() => secured.stack.close());

  it.each(governedActions)('%s asks them, and is not done under a policy that denies it', async (action) => {
    const project = aProject();
    const act = await doings[action](project);
    await aPolicy(project, deny(action));
    expect(await act()).toBe('POLICY_BLOCKED');
    const blocked = await admin.ok('GET', '/api/governance/traces?outcome=blocked&limit=1');
    expect(blocked).toMatchObject([{ matchedRules: [{ label: 'A rule' }] }]);
  });

  it('is decided once about a continuation, with the watcher policy among the rules', async () => {
    const project = aProject();
    const act = await doings.continuation(project);
    const policy = await aPolicy(project, deny('continuation'));
    const decided = async () => {
      const [{ id }] = await admin.ok('GET', '/api/governance/traces?outcome=blocked&limit=1');
      return admin.ok('GET', `/api/governance/traces/${id}`);
    };
    expect(await act()).toBe('POLICY_BLOCKED');
    expect(await decided()).toMatchObject({
      evaluatedRules: [{ type: 'watcher-policy', status: 'not-matched' }, { id: policy }],
    });
    await watcher({ globalKillSwitch: true });
    expect(await act()).toBe('CONTINUATION_BLOCKED');
    expect(await decided()).toMatchObject({ matchedRules: [{ type: 'watcher-policy' }, { id: policy }] });
  });
});
