import type { Delegation } from '../../../contracts/governance/delegation';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

const otherKey = 'another-agent-key-of-this-test-0123456789';
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

describe('delegation', () => {
  let board: ApiUnderTest;
  beforeEach(async () => {
    board = await startTestApi({
      BOARD_API_KEYS: `worker:${agentKey}:agent,other:${otherKey}:agent,viewer:${readKey}:read-only`,
    });
  });
  afterEach(() => board.close());

  const call = (method: string, path: string, body?: unknown, key?: string) =>
    board.call(method, path, { body, ...(key && { key }) });
  /** The agent of the key `worker` decides. */
  const delegate = async (fields: object = {}) => {
    const body = { delegateAgent: 'worker', expires: inAnHour(), scope: { type: 'all' }, ...fields };
    const set = await call('POST', '/api/delegation', body);
    expect(set.status).toBe(200);
    return set.body as Delegation;
  };
  const request = async (fields: object = {}) => {
    const body = { agentId: 'bee', action: 'merge', ...fields };
    return (await call('POST', '/api/agents/permissions/approvals', body)).body.id as string;
  };
  const decide = (id: string, key = agentKey, decision = 'approved') =>
    call('POST', `/api/delegation/approvals/${id}`, { decision, note: 'Fine' }, key);
  const stored = (id: string) => board.api.context.permissionApprovals.get(id);
  const log = async (query = '') => (await call('GET', `/api/delegation/log${query}`)).body.approvals as object[];
  const actions = async () =>
    ((await call('GET', '/api/audit?limit=20')).body.entries as { action: string }[]).map(({ action }) => action);

  it('is set, read by agents, replaced and revoked, each in the audit log', async () => {
    expect((await call('GET', '/api/delegation')).body).toEqual({ delegation: null });
    expect((await call('DELETE', '/api/delegation')).status).toBe(404);
    const set = await delegate({ createdBy: 'Ada', excludePriorities: ['critical'] });
    expect(set).toMatchObject({ delegateAgent: 'worker', createdBy: 'Ada', setBy: 'service:admin' });
    expect((await call('GET', '/api/delegation', undefined, agentKey)).body).toEqual({ delegation: set });
    const next = await delegate({ delegateAgent: 'other' });
    expect((await call('GET', '/api/delegation')).body).toEqual({ delegation: next });
    expect((await call('DELETE', '/api/delegation')).status).toBe(204);
    expect((await call('GET', '/api/delegation')).body).toEqual({ delegation: null });
    expect((await actions()).filter((action) => action.startsWith('delegation.')).sort()).toEqual([
      ...['delegation.revoke', 'delegation.set', 'delegation.set'],
    ]);
  });

  it.each<[string, object, string]>([
    ['an expiry that has passed', { expires: '2020-01-01T00:00:00.000Z' }, 'expires'],
    ['no expiry', { expires: undefined }, 'expires'],
    ['an unknown scope', { scope: { type: 'some' } }, 'scope.type'],
    ['a scope of no projects', { scope: { type: 'project' } }, 'scope.projectIds'],
    ['projects that count for nothing', { scope: { type: 'all', projectIds: ['shop'] } }, 'scope.projectIds'],
    ['priorities that count for nothing', { scope: { type: 'all', priorities: ['low'] } }, 'scope.priorities'],
    ['an unknown field', { forever: true }, 'forever'],
  ])('is refused with %s', async (_case, fields, path) => {
    const body = { delegateAgent: 'worker', expires: inAnHour(), scope: { type: 'all' }, ...fields };
    const refused = await call('POST', '/api/delegation', body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues.map((issue: { path: string }) => issue.path)).toContain(path);
    expect((await call('GET', '/api/delegation')).body).toEqual({ delegation: null });
  });

  it('lets the delegate decide a request in its scope, and writes that down with the delegation', async () => {
    const delegation = await delegate({ scope: { type: 'project', projectIds: ['shop'] } });
    const task = await board.createTask({ project: 'shop', title: 'Ship' });
    const [id, rejected] = [await request({ taskId: task.id }), await request({ taskId: task.id })];
    expect(await decide(id)).toMatchObject({
      status: 200,
      body: { status: 'approved', reviewedBy: 'agent:worker', note: 'Fine' },
    });
    expect(await decide(rejected, agentKey, 'rejected')).toMatchObject({ status: 200, body: { status: 'rejected' } });
    const entry = {
      kind: 'permission-approval',
      taskId: task.id,
      taskTitle: 'Ship',
      agent: 'worker',
      delegated: true,
      originalDelegation: delegation,
    };
    expect(await log(`?taskId=${task.id}&agent=worker`)).toMatchObject([
      { ...entry, approvalId: rejected, decision: 'rejected' },
      { ...entry, approvalId: id, decision: 'approved' },
    ]);
    expect(await log('?agent=other')).toEqual([]);
    expect(await actions()).toContain('agent-permission.review');
    expect(await decide(id)).toMatchObject({ status: 409 });
    expect(await log()).toHaveLength(2);
  });

  describe('lets the delegate decide nothing', () => {
    const refusals: [string, (taskId: string) => Promise<{ id: string; key?: string }>][] = [
      [
        'of a task outside of its scope',
        async (taskId) => {
          await delegate({ scope: { type: 'project', projectIds: ['farm'] } });
          return { id: await request({ taskId }) };
        },
      ],
      [
        'of a task with an excluded priority',
        async (taskId) => {
          await delegate({ excludePriorities: ['medium'] });
          return { id: await request({ taskId }) };
        },
      ],
      [
        'of no task',
        async () => {
          await delegate();
          return { id: await request() };
        },
      ],
      [
        'that it requested itself',
        async (taskId) => {
          await delegate();
          const body = { agentId: 'bee', action: 'merge', taskId };
          return { id: (await call('POST', '/api/agents/permissions/approvals', body, agentKey)).body.id as string };
        },
      ],
      [
        'that is for itself',
        async (taskId) => {
          await delegate();
          return { id: await request({ taskId, agentId: 'worker' }) };
        },
      ],
      [
        'critical',
        async (taskId) => {
          await delegate();
          return { id: await request({ taskId, action: 'force' }) };
        },
      ],
      [
        'after it was revoked',
        async (taskId) => {
          await delegate();
          await call('DELETE', '/api/delegation');
          return { id: await request({ taskId }) };
        },
      ],
      [
        'after it has expired',
        async (taskId) => {
          const delegation = await delegate();
          await board.api.context.delegations.set({ ...delegation, expires: new Date(Date.now() - 1).toISOString() });
          return { id: await request({ taskId }) };
        },
      ],
      [
        'as another agent',
        async (taskId) => {
          await delegate();
          return { id: await request({ taskId }), key: otherKey };
        },
      ],
      [
        'that it is restricted from',
        async (taskId) => {
          await delegate();
          await call('POST', '/api/agents/permissions', { agentId: 'worker', restrictions: ['approve'] });
          return { id: await request({ taskId }) };
        },
      ],
    ];

    it.each(refusals)('%s', async (_case, prepare) => {
      const { id: taskId } = await board.createTask({ project: 'shop' });
      const { id, key } = await prepare(taskId);
      expect(await decide(id, key)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
      expect(await stored(id)).toMatchObject({ status: 'pending' });
      expect(await log()).toEqual([]);
      expect(await board.api.context.delegations.unconfirmed()).toEqual([]);
    });
  });

  describe('leaves its scope to others than the delegate', () => {
    const edit = (id: string, fields: object, key?: string) => call('PATCH', `/api/tasks/${id}`, fields, key);

    it.each<[string, object, object, object]>([
      ['a project', { scope: { type: 'project', projectIds: ['shop'] } }, { project: 'farm' }, { project: 'shop' }],
      ['a priority', { scope: { type: 'priority', priorities: ['low'] } }, { priority: 'high' }, { priority: 'low' }],
      ['an exclusion', { excludePriorities: ['high'] }, { priority: 'high' }, { priority: 'medium' }],
    ])(
      'by %s: it moves no task in or out, alone, in bulk or with its completion',
      async (_case, fields, outside, inside) => {
        await delegate(fields);
        const [out, within] = [await board.createTask(outside), await board.createTask(inside)];
        const refusal = { status: 403, body: { code: 'FORBIDDEN', details: { taskId: out.id } } };
        expect(await edit(out.id, inside, agentKey)).toMatchObject(refusal);
        expect(await edit(out.id, { ...inside, status: 'done' }, agentKey)).toMatchObject(refusal);
        expect((await edit(within.id, outside, agentKey)).status).toBe(403);
        const bulk = await call('POST', '/api/tasks/bulk-update', { ids: [out.id], updates: inside }, agentKey);
        expect(bulk.status === 200 ? bulk.body.updated : []).toEqual([]);
        expect(JSON.stringify(bulk.body)).toContain('scope of its delegation');
        expect((await call('GET', `/api/tasks/${out.id}`)).body).toMatchObject({ ...outside, status: 'todo' });
        expect((await edit(out.id, { title: 'Another title' }, agentKey)).status).toBe(200);
        expect((await edit(within.id, { title: 'Another title' }, agentKey)).status).toBe(200);
        expect((await edit(within.id, outside, otherKey)).status).toBe(200);
        expect((await edit(out.id, inside)).status).toBe(200);
        expect(await log()).toEqual([]);
      },
    );

    it('ends with the delegation', async () => {
      await delegate({ scope: { type: 'project', projectIds: ['shop'] } });
      const { id } = await board.createTask({ project: 'farm' });
      expect((await edit(id, { project: 'shop' }, agentKey)).status).toBe(403);
      await call('DELETE', '/api/delegation');
      expect((await edit(id, { project: 'shop' }, agentKey)).status).toBe(200);
    });

    it('judges a request by what its task was then as well as now', async () => {
      await delegate({ scope: { type: 'project', projectIds: ['shop'] } });
      const [moved, left] = [await board.createTask({ project: 'farm' }), await board.createTask({ project: 'shop' })];
      const ids = [await request({ taskId: moved.id }), await request({ taskId: left.id })];
      await edit(moved.id, { project: 'shop' }, otherKey);
      await edit(left.id, { project: 'farm' }, otherKey);
      for (const id of ids) {
        expect(await decide(id)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
        expect(await stored(id)).toMatchObject({ status: 'pending' });
      }
      expect(await decide(await request({ taskId: moved.id }))).toMatchObject({ status: 200 });
    });

    it('judges a request that a rule makes by what its task was then', async () => {
      await delegate({ scope: { type: 'project', projectIds: ['shop'] } });
      const policy = { name: 'Ask', type: 'require-approval', config: { reason: 'Ask first.', approvers: [] } };
      const made = await call('POST', '/api/policies', { ...policy, scope: { actionTypes: ['archive-task'] } });
      expect(made.status).toBe(201);
      const { id: taskId } = await board.createTask({ project: 'farm' });
      const asked = await call('POST', `/api/tasks/${taskId}/archive`, undefined, otherKey);
      expect(asked).toMatchObject({ status: 409, body: { code: 'APPROVAL_REQUIRED' } });
      const [{ id }] = (await call('GET', '/api/agents/permissions/approvals')).body;
      await call('DELETE', `/api/policies/${made.body.id}`);
      await edit(taskId, { project: 'shop' });
      expect(await decide(id)).toMatchObject({ status: 403 });
      await edit(taskId, { project: 'farm' });
      expect(await decide(id)).toMatchObject({ status: 403 });
    });
  });

  it('gives no other authority: the delegate reviews nothing where administrators do', async () => {
    await delegate();
    const { id: taskId } = await board.createTask();
    const id = await request({ taskId });
    const reviewed = await call('POST', `/api/agents/permissions/approvals/${id}`, { decision: 'approved' }, agentKey);
    expect(reviewed.status).toBe(403);
    expect((await call('POST', '/api/delegation', {}, agentKey)).status).toBe(403);
    expect((await call('DELETE', '/api/delegation', undefined, agentKey)).status).toBe(403);
  });

  it('lets one of ten concurrent decisions through, with one entry', async () => {
    await delegate();
    const { id: taskId } = await board.createTask();
    const id = await request({ taskId });
    const decisions = Array.from({ length: 10 }, (_, n) => decide(id, agentKey, n % 2 ? 'approved' : 'rejected'));
    const statuses = (await Promise.all(decisions)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    const { status } = (await stored(id))!;
    const entries = (await log()) as { decision: string }[];
    expect(entries.map(({ decision }) => decision)).toEqual([status]);
  });

  it('shows a decision whose process died before it could confirm it, and none that was not made', async () => {
    const originalDelegation = await delegate();
    const { id: taskId } = await board.createTask();
    const { delegations, permissionApprovals } = board.api.context;
    const note = async (approvalId: string, timestamp: string) => {
      const about = { taskId, taskTitle: 'A task', agent: 'worker', delegated: true, decision: 'approved' } as const;
      const entry = {
        id: `delegated_${approvalId}`,
        kind: 'permission-approval',
        approvalId,
        timestamp,
        originalDelegation,
        ...about,
      } as const;
      await delegations.note(entry, { confirmed: false });
    };
    const [made, lost, running] = [await request({ taskId }), await request({ taskId }), await request({ taskId })];
    const reviewedAt = new Date().toISOString();
    await note(made, reviewedAt);
    await permissionApprovals.review(made, { status: 'approved', reviewedBy: 'agent:worker', reviewedAt });
    await note(lost, new Date(Date.now() - 120_000).toISOString());
    await note(running, new Date().toISOString());
    expect(await log()).toMatchObject([{ approvalId: made }]);
    expect((await delegations.unconfirmed()).map(({ approvalId }) => approvalId)).toEqual([running]);
  });

  it('records what the delegate completes in its scope, and refuses nothing for it', async () => {
    const originalDelegation = await delegate({ scope: { type: 'priority', priorities: ['high'] } });
    const [high, low] = [await board.createTask({ priority: 'high' }), await board.createTask({ priority: 'low' })];
    const complete = (id: string, key: string) => call('PATCH', `/api/tasks/${id}`, { status: 'done' }, key);
    expect((await complete(high.id, agentKey)).status).toBe(200);
    expect((await complete(low.id, agentKey)).status).toBe(200);
    const other = await board.createTask({ priority: 'high' });
    await complete(other.id, otherKey);
    expect(await log()).toMatchObject([{ kind: 'completion', taskId: high.id, agent: 'worker', originalDelegation }]);
  });
});
