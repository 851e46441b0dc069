import { governedActions } from '../../../domain/governance/action';
import { read } from '../../docs/pages';
import { agentKey, type ApiUnderTest, type Reply, startWholeTestApi } from '../api-under-test';

let board: ApiUnderTest;
let projects = 0;
let marked = 0;
const aProject = () => `project-${(projects += 1)}`;
const call = (method: string, path: string, body?: object, key?: string) =>
  board.call(method, `/api${path}`, { ...(body ? { body } : {}), ...(key ? { key } : {}) });
const aPolicy = async (project: string, policy: object): Promise<string> =>
  (await call('POST', '/policies', { name: 'A rule', scope: { projects: [project] }, ...policy })).body.id;
const deny = (action: string) => ({ rules: [{ action, effect: 'deny' }] });

/** How each action is tried on a task of a project, one way after the other. */
type Tries = Record<string, (project: string, id: string) => Promise<Reply>>;
/** Marks a message about a task that was sent before any rule forbade it. */
const mark = async (taskId: string, verb: string, body: object): Promise<Reply> => {
  const { squad } = board.api.context;
  marked += 1;
  const about = { taskId, agent: 'bee', message: 'a', mentions: [], system: false };
  const made = { _id: `squad_marked${marked}`, timestamp: new Date().toISOString(), ...about };
  const { id } = await squad.add(made as unknown as Parameters<typeof squad.add>[0]);
  return call('POST', `/chat/squad/${id}/${verb}`, body);
};
const bulkReply = async (reply: Promise<Reply>): Promise<Reply> => {
  const { failed = [], ...rest } = (await reply).body;
  const [first] = failed as { error: string }[];
  return first ? { ...(await reply), status: 403, body: { code: first.error } } : { ...(await reply), body: rest };
};
const tries: Record<string, Tries> = {
  'create-task': {
    'a new task': (project) => call('POST', '/tasks', { title: 'a', project }),
    'a new task in the backlog': (project) => call('POST', '/backlog', { title: 'a', project }),
  },
  'update-task': {
    'a change': (_project, id) => call('PATCH', `/tasks/${id}`, { title: 'b' }),
    'a comment': (_project, id) => call('POST', `/tasks/${id}/comments`, { author: 'a', text: 'b' }),
    'a subtask': (_project, id) => call('POST', `/tasks/${id}/subtasks`, { title: 'b' }),
    'a change in bulk': (_project, id) =>
      bulkReply(call('POST', '/tasks/bulk-update', { taskIds: [id], updates: { title: 'b' } })),
    'the backlog': (_project, id) => call('POST', `/tasks/${id}/demote`),
  },
  'complete-task': {
    'a change': (_project, id) => call('PATCH', `/tasks/${id}`, { status: 'done' }),
    'a change in bulk': (_project, id) =>
      bulkReply(call('POST', '/tasks/bulk-update', { taskIds: [id], status: 'done' })),
    'a new task that is done': (project) => call('POST', '/tasks', { title: 'a', project, status: 'done' }),
  },
  'delete-task': { 'a deletion': (_project, id) => call('DELETE', `/tasks/${id}`) },
  'external-message': {
    'a message of the squad': (_project, id) => call('POST', '/chat/squad', { message: 'a', taskId: id }),
    'a reaction to a message': (_project, id) => mark(id, 'react', { reaction: '+1' }),
    'a pin of a message': (_project, id) => mark(id, 'pin', { pinned: true }),
    'a message that begins a chat session': (_project, id) => call('POST', '/chat/send', { message: 'a', taskId: id }),
    'a message to a chat session': async (_project, taskId) => {
      const { id: sessionId } = await board.api.context.chats.create({ taskId, title: 'a', mode: 'ask' });
      return call('POST', '/chat/send', { message: 'a', sessionId });
    },
    'a message to a team chat': async (_project, taskId) => {
      const chat = '/integrations/communication/adapters/chat';
      await call('PUT', chat, { kind: 'slack', webhookUrl: 'https://example.org/services/a' });
      return call('POST', `${chat}/send`, { message: 'a', taskId });
    },
    'a reply of a team chat': async (_project, taskId) => {
      const chat = '/integrations/communication/adapters/chat';
      await call('PUT', chat, { kind: 'slack', webhookUrl: 'https://example.org/services/a' });
      const ids = { externalThreadId: taskId, externalReplyId: `${taskId}-${Math.random()}` };
      return call('POST', `${chat}/replies`, { ...ids, actor: 'a', message: 'b', target: { kind: 'task', taskId } });
    },
    'a notification': (_project, id) =>
      call('POST', '/notifications', { type: 'mention', targetAgent: 'ada', message: 'a', taskId: id }),
    'a mention': (_project, id) => call('POST', '/notifications/process', { taskId: id, content: 'for @ada' }),
  },
  merge: { 'a merge': (_project, id) => call('POST', `/tasks/${id}/worktree/merge`) },
  force: {
    'a removal by force': (_project, id) => call('DELETE', `/tasks/${id}/worktree?force=true&reason=because`),
  },
};

const isRefused = ({ status, body }: Reply) => status === 403 && /POLICY_BLOCKED|A rule/.test(JSON.stringify(body));

describe('decision point', () => {
  beforeAll(async () => {
    board = await startWholeTestApi();
  });
  afterAll(() => board.close());

  const ways = Object.entries(tries).flatMap(([action, all]) =>
    Object.entries(all).map(([way, attempt]) => [action, way, attempt] as const),
  );

  it.each(ways)('refuses %s by %s under a policy that denies it, and only then', async (action, _way, attempt) => {
    const project = aProject();
    const { id } = await board.createTask({ title: 'a', project });
    const other = await board.createTask({ title: 'a', project: aProject() });
    const policy = await aPolicy(project, deny(action));
    const { revision } = (await call('GET', `/tasks/${id}`)).body;
    expect(isRefused(await attempt(project, id))).toBe(true);
    expect((await call('GET', `/tasks/${id}`)).body.revision).toBe(revision);
    expect(isRefused(await attempt(aProject(), other.id))).toBe(false);
    await call('DELETE', `/policies/${policy}`);
    expect(isRefused(await attempt(project, id))).toBe(false);
  });

  it('has a row in its documentation for each of its actions, which test/e2e/launch/governed-actions.test.ts does', () => {
    const page = read('docs/use/governance/decision-point.md');
    const rows = [...page.matchAll(/^\| `([a-z-]+)`/gm)].map(([, name]) => name);
    const named = [...new Set(rows)].filter((name) => governedActions.includes(name as never));
    expect([...named].sort()).toEqual([...governedActions].sort());
  });

  it('begins no chat session with a message that a policy denies', async () => {
    const { body: policy } = await call('POST', '/policies', { name: 'A rule', ...deny('chat-message') });
    expect(isRefused(await call('POST', '/chat/send', { message: 'a first word' }))).toBe(true);
    const { body: sessions } = await call('GET', '/chat/sessions');
    expect(sessions.map(({ title }: { title: string }) => title)).not.toContain('a first word');
    await call('DELETE', `/policies/${policy.id}`);
  });

  it('refuses a broadcast, which has no project, under a policy that denies it', async () => {
    const { body: policy } = await call('POST', '/policies', { name: 'A rule', ...deny('broadcast') });
    expect(isRefused(await call('POST', '/broadcasts', { message: 'a' }))).toBe(true);
    expect((await call('GET', '/broadcasts')).body).toEqual([]);
    await call('DELETE', `/policies/${policy.id}`);
    expect((await call('POST', '/broadcasts', { message: 'a' })).status).toBe(201);
  });

  it('is asked for administrators too, who can always change the policies', async () => {
    const { body } = await call('POST', '/policies', { name: 'Nothing', rules: [{ effect: 'deny' }] });
    expect(await call('POST', '/tasks', { title: 'a' })).toMatchObject({
      status: 403,
      body: { code: 'POLICY_BLOCKED', details: { policy: body.id, next: { path: `/api/policies/${body.id}` } } },
    });
    expect((await call('DELETE', `/policies/${body.id}`)).status).toBe(204);
    expect((await call('POST', '/tasks', { title: 'a' })).status).toBe(201);
  });

  it('asks the permissions of the agent that a key names', async () => {
    const project = aProject();
    const { id } = await board.createTask({ title: 'a', project });
    const level = (name: string) => call('PUT', '/agents/permissions/worker/level', { level: name });
    const create = () => call('POST', '/tasks', { title: 'a', project }, agentKey);
    expect((await create()).status).toBe(201);
    await level('intern');
    const refused = await create();
    expect(refused).toMatchObject({ status: 409, body: { code: 'APPROVAL_REQUIRED', details: { agent: 'worker' } } });
    const done = await call('PATCH', `/tasks/${id}`, { status: 'done' }, agentKey);
    expect(done).toMatchObject({ status: 409, body: { code: 'APPROVAL_REQUIRED' } });

    await call('POST', `/agents/permissions/approvals/${refused.body.details.approval.id}`, { decision: 'approved' });
    expect((await create()).status).toBe(201);
    expect((await create()).status).toBe(409);

    const asked = { agentId: 'worker', action: 'complete-task', taskId: id };
    const { body: own } = await call('POST', '/agents/permissions/approvals', asked, agentKey);
    await call('POST', `/agents/permissions/approvals/${own.id}`, { decision: 'approved' });
    expect((await call('PATCH', `/tasks/${id}`, { status: 'done' }, agentKey)).status).toBe(200);
    await level('specialist');
    await call('PATCH', '/agents/permissions/worker', { restrictions: ['delete-*'] });
    expect(await call('DELETE', `/tasks/${id}`, undefined, agentKey)).toMatchObject({
      status: 403,
      body: { details: { source: 'agent-permission', rule: 'restriction' } },
    });
    await call('PATCH', '/agents/permissions/worker', { restrictions: [] });
  });

  it('names the trace of a warning in the response', async () => {
    const project = aProject();
    await aPolicy(project, { rules: [{ effect: 'warn' }] });
    const made = await call('POST', '/tasks', { title: 'a', project });
    const trace = made.headers.get('x-policy-warnings');
    expect(trace).toMatch(/^trace_/);
    expect((await call('GET', `/governance/traces/${trace}`)).body).toMatchObject({ outcome: 'warned' });
  });

  it('counts a task once for a rate limit', async () => {
    const project = aProject();
    const config = { maxAttempts: 2, windowMs: 31 * 86_400_000, scopeKey: 'action-type' };
    await aPolicy(project, { type: 'rate-limit', config });
    const statuses = [];
    for (let made = 0; made < 3; made += 1) {
      statuses.push((await call('POST', '/tasks', { title: 'a', project })).status);
    }
    expect(statuses).toEqual([201, 201, 403]);
  });

  it('is not asked under a policy for another action', async () => {
    const project = aProject();
    await aPolicy(project, deny('launch'));
    expect((await call('POST', '/tasks', { title: 'a', project })).status).toBe(201);
  });
});
