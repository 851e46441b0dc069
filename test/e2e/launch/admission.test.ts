import { type LaunchOrigin, launchSource, type TreeEdge } from '../../../contracts/runs/admission';
import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { changeFeatures } from '../../support/change-features';
import { aRepository } from '../../support/git/repository';
import { launchFrom } from '../../support/processes/launch-child';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ BOARD_MAX_RUNS: '2' });
  await stack.call.addRepository('sample', await aRepository(stack.dir));
  await stack.call.configureAgents([
    scriptAgent('worker-bee', '1'),
    { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
  ]);
});
afterAll(() => stack.close());

const url = '/api/admission';
/** A task whose run lasts until it is stopped or reported: an agent elsewhere costs nothing. */
const aTask = (fields: object = {}) => stack.call.createTask({ title: 'Wait for it', agent: 'elsewhere', ...fields });
const start = async (body: object = {}) => stack.call.start((await aTask()).id, body);
const stop = ({ taskId, attemptId }: { taskId: string; attemptId: string }) =>
  stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });
/** Changes settings, and waits until every process has to have read them. */
const settings = async (admission: object, watcher: object = {}) => {
  await changeFeatures(stack.call, { admission, watcher });
};
const key = (name: string, reason = 'not wanted') => ({ idempotencyKey: `${name}-0001`, reason });
const attempts: { taskId: string; attemptId: string }[] = [];
const held = async (run: Promise<{ taskId: string; attemptId: string }>) => {
  const started = await run;
  attempts.push(started);
  return started;
};

afterEach(async () => {
  await settings({
    limits: { global: { runs: 2 }, rootTask: { runs: null } },
    queue: { enabled: true, globalLimit: 1_000 },
    fanOutBreaker: { maxDescendants: 256 },
    treeBudget: { tokens: null },
  });
  for (const { taskId, attemptId } of attempts.splice(0)) {
    await stack.call.post(`/api/agents/${taskId}/stop`, { attemptId });
  }
  await eventually(async () => {
    const { reservations } = await stack.call.ok('GET', `${url}?state=active`);
    expect(reservations).toEqual([]);
  });
});

test('a run holds a reservation from its admission to its end, and reports what it was and why it was given back', async () => {
  const run = await held(start());
  const path = `${url}/${run.attemptId}`;
  const reservation = await eventually(async () => {
    const found = await stack.call.ok('GET', path);
    expect(found.tree.committed).toEqual({ runs: 1, processes: 1, memoryMb: 512 });
    return found;
  });
  expect(reservation).toMatchObject({
    schemaVersion: 'admission-reservation/v1',
    state: 'active',
    request: { source: 'direct', taskId: run.taskId, provider: 'remote-callback' },
    requested: { runs: 1, processes: 1, memoryMb: 512 },
    policies: [{ policy: 'global.runs', limit: 2 }],
    attempt: run.attemptId ? { attemptId: run.attemptId } : {},
    tree: {
      schemaVersion: 'execution-tree-identity/v1',
      rootObjectiveId: run.attemptId,
      parentNodeId: null,
      edge: 'root',
    },
    release: null,
  });
  expect(JSON.stringify(reservation)).not.toContain('Wait for it');
  const lists = ['state=active', `taskId=${run.taskId}`, `nodeId=${run.attemptId}`, 'provider=remote-callback&limit=1'];
  for (const query of lists) {
    const { reservations } = await stack.call.ok('GET', `${url}?${query}`);
    expect(reservations.map(({ id }: { id: string }) => id)).toContain(run.attemptId);
  }
  await stop(run);
  const released = await stack.call.ok('GET', path);
  expect(released).toMatchObject({ state: 'released', release: { reason: 'interrupted' } });
  expect((await stack.call.get(`${url}?state=gone`)).status).toBe(400);
  expect((await stack.call.get(`${url}/attempt_unknown000`)).status).toBe(404);
});

test('the queue shows who waits and for what, and an entry can be cancelled once', async () => {
  await held(start());
  await held(start());
  const waiting = await start();
  expect(waiting).toMatchObject({ status: 'queued', limitingScopes: [{ scope: 'global', scopeId: 'global' }] });
  const list = await stack.call.get(`${url}/queue?state=queued&limitingScope=global&source=direct&priority=1`);
  expect(list.body).toMatchObject({
    schemaVersion: 'admission-queue-list/v1',
    conditional: true,
    depth: { global: { current: 1, limit: 1_000 }, workspaces: [{ workspaceId: 'local', current: 1, limit: 100 }] },
    pagination: { page: 1, total: 1, hasMore: false, snapshotTruncated: false },
    entries: [
      { id: waiting.queueId, state: 'queued', readiness: 'blocked', limitingPolicies: [{ policy: 'global.runs' }] },
    ],
  });
  const etag = { 'if-none-match': list.headers.get('etag')! };
  const same = await stack.call.send(
    'GET',
    `${url}/queue?state=queued&limitingScope=global&source=direct&priority=1`,
    undefined,
    etag,
  );
  expect(same.status).toBe(304);
  expect((await stack.call.ok('GET', `${url}/queue?minAgeMs=3600000`)).entries).toEqual([]);

  const path = `${url}/queue/${waiting.queueId}/cancel`;
  expect((await stack.call.post(path, { idempotencyKey: 'short', reason: 'x' })).status).toBe(400);
  const cancelled = await stack.call.ok('POST', path, key('cancel'));
  expect(cancelled.entry).toMatchObject({
    state: 'terminal',
    readiness: 'ended',
    outcome: { code: 'QUEUE_CANCELLED', reason: 'not wanted' },
  });
  expect((await stack.call.ok('POST', path, key('cancel'))).entry).toEqual(cancelled.entry);
  expect(await stack.call.post(path, { ...key('cancel'), reason: 'too late' })).toMatchObject({
    status: 409,
    body: { code: 'IDEMPOTENCY_KEY_REUSED', details: { cancel: { reason: 'not wanted' } } },
  });
  const other = await stack.call.post(path, key('another'));
  expect(other).toMatchObject({ status: 409, body: { details: { code: 'QUEUE_NOT_CANCELLABLE', state: 'terminal' } } });
  expect((await stack.call.status(waiting.taskId)).attempt.completion).toMatchObject({ status: 'interrupted' });
});

test('without a queue there is overload, in a full one overflow, and above a ceiling never', async () => {
  await held(start());
  await held(start());
  const refused = async () => {
    const { body } = await stack.call.post(`/api/agents/${(await aTask()).id}/start`);
    // Decided on the settings of a moment ago: it would be dispatched before the entry that is evaluated next.
    if (body.attemptId !== undefined) {
      await stop(body);
    }
    return body;
  };
  await settings({ queue: { enabled: false } });
  expect(
    await eventually(async () => {
      const answer = await refused();
      expect(answer.code).toBe('ADMISSION_OVERLOAD');
      return answer;
    }),
  ).toMatchObject({ details: { code: 'ADMISSION_OVERLOAD', scope: 'global', retryAfterMs: 5_000, retryable: true } });

  await settings({ queue: { enabled: true, globalLimit: 1 } });
  const first = await eventually(async () => {
    const task = await aTask();
    const answer = await stack.call.start(task.id);
    expect(answer.status).toBe('queued');
    return answer;
  });
  attempts.push(first);
  expect(await refused()).toMatchObject({ details: { code: 'ADMISSION_QUEUE_OVERFLOW', current: 1, limit: 1 } });
  await settings({ request: { processes: 4 }, limits: { provider: { processes: 3 } } });
  expect(
    await eventually(async () => {
      const answer = await refused();
      expect(answer.code).toBe('ADMISSION_POLICY_DENIED');
      return answer;
    }),
  ).toMatchObject({ details: { policy: 'provider.processes', requested: 4, limit: 3, retryable: false } });
  await settings({ request: { processes: 1 }, limits: { provider: { processes: null } } });
});

test('a raised ceiling lets a queued launch go while everything runs', async () => {
  await held(start());
  await held(start());
  const waiting = await held(start());
  await settings({ limits: { global: { runs: 3 } } });
  await eventually(async () => expect((await stack.call.status(waiting.taskId)).state).toBe('running'));
  const { entry } = await stack.call.ok('GET', `${url}/queue/${waiting.attemptId}`);
  expect(entry).toMatchObject({ state: 'dispatched', selection: { effectivePriority: 1, position: 1 } });
});

test('a launch whose agent was configured again while it waited is over before any provider is called', async () => {
  const first = await held(start());
  await held(start());
  const waiting = await start();
  const { agents } = await stack.call.ok('GET', '/api/config/agents');
  const renamed = agents.map((agent: { type: string }) =>
    agent.type === 'elsewhere' ? { ...agent, name: 'Somewhere else' } : agent,
  );
  await stack.call.configureAgents(renamed);
  await stop(first);
  const { attempt } = await stack.call.ended(waiting.taskId);
  expect(attempt.completion).toMatchObject({ status: 'failed', harness: { ended: 'not-dispatched' } });
  const { entry } = await stack.call.ok('GET', `${url}/queue/${waiting.queueId}`);
  expect(entry).toMatchObject({ state: 'terminal', outcome: { code: 'ADMISSION_QUEUE_DRIFT' } });
  const kinds = (await stack.call.events(waiting.taskId, waiting.attemptId)).map(({ kind }) => kind);
  expect(kinds).not.toContain('run.started');
});

describe('execution trees', () => {
  const child = async (parentAttemptId: string, edge: TreeEdge = 'child-agent') => {
    const task = await aTask();
    return launchFrom(stack, { source: 'child-agent', edge, parentAttemptId }, { taskId: task.id, request: {} });
  };

  /** A child that runs; a resumed tree may take a moment. */
  const running = async (parentAttemptId: string) => {
    const started = await eventually(async () => {
      const answer = await child(parentAttemptId);
      expect(answer.status).toBe('running');
      return answer as { taskId: string; attemptId: string };
    });
    attempts.push(started);
    return started;
  };

  test('the breaker pauses a tree that grows too fast, and it resumes once that is over', async () => {
    await settings({ limits: { global: { runs: 10 } }, fanOutBreaker: { maxDescendants: 1 } });
    const root = await held(start());
    const first = await running(root.attemptId);
    const paused = await child(first.attemptId);
    expect(paused).toMatchObject({
      code: 'EXECUTION_TREE_EXPANSION_PAUSED',
      details: { signals: [{ signal: 'descendant-limit', current: 2, limit: 1 }], retryable: true },
    });
    const tree = `${url}/tree/${root.attemptId}`;
    expect(await stack.call.ok('GET', tree)).toMatchObject({
      state: 'paused',
      descendants: 1,
      control: { action: 'pause', actor: 'system:breaker', signals: [{ signal: 'descendant-limit' }] },
      reserved: { runs: 2, processes: 2, memoryMb: 1_024 },
      policies: [{ policy: 'global.runs', reserved: 2, blocksNextLaunch: false }],
      contributorCount: 2,
      contributors: [
        { nodeId: root.attemptId, depth: 0, state: 'active' },
        { nodeId: first.attemptId, parentNodeId: root.attemptId, depth: 1 },
      ],
    });
    expect(await stack.call.post(`${tree}/resume`, key('resume'))).toMatchObject({
      status: 409,
      body: { details: { code: 'EXECUTION_TREE_RESUME_BLOCKED', signals: [{ signal: 'descendant-limit' }] } },
    });
    await settings({ fanOutBreaker: { maxDescendants: 5 } });
    expect(await stack.call.ok('POST', `${tree}/resume`, key('resume'))).toMatchObject({ state: 'open' });
    expect(await stack.call.ok('POST', `${tree}/resume`, key('resume'))).toMatchObject({ state: 'open' });
    await running(first.attemptId);
  });

  test('a tree that has used up its budget launches nothing more, not what waits either, until the budget is raised', async () => {
    await settings({ limits: { global: { runs: 2 } }, treeBudget: { tokens: 100 } });
    const root = await held(start());
    const report = (inputTokens: number) =>
      stack.call.ok('POST', `/api/agents/${root.taskId}/tokens`, {
        attemptId: root.attemptId,
        inputTokens,
        outputTokens: 10,
      });
    await report(40);
    const first = await running(root.attemptId);
    const queued = await child(root.attemptId);
    expect(queued.status).toBe('queued');
    await report(45);

    // A launch that waited is evaluated once more when it has capacity, and goes no further.
    await stop(first);
    const path = `${url}/queue/${(queued as { queueId: string }).queueId}`;
    await eventually(async () => {
      const { entry } = await stack.call.ok('GET', path);
      expect(entry).toMatchObject({ state: 'terminal', outcome: { code: 'ADMISSION_BUDGET_EXHAUSTED' } });
    });
    const signal = { signal: 'budget-pressure', current: 105, limit: 100, scope: 'tree', budget: 'tokens' };
    expect(await child(root.attemptId)).toMatchObject({
      code: 'ADMISSION_BUDGET_EXHAUSTED',
      details: { scope: 'tree', scopeId: root.attemptId, budget: 'tokens', signals: [signal], retryable: false },
    });
    const { queueId: attemptId } = queued as { queueId: string };
    for (const outcome of ['allowed', 'blocked']) {
      const traces = await stack.call.ok('GET', `/api/governance/traces?kind=budget-policy&outcome=${outcome}`);
      const reported = await Promise.all(
        traces.map(({ id }: { id: string }) => stack.call.ok('GET', `/api/governance/traces/${id}`)),
      );
      expect(reported).toContainEqual(expect.objectContaining({ raw: expect.objectContaining({ attemptId }) }));
    }
    const tree = `${url}/tree/${root.attemptId}`;
    const summary = await stack.call.ok('GET', tree);
    expect(summary).toMatchObject({ state: 'paused', control: { actor: 'system:breaker', signals: [signal] } });
    expect(summary.policies).toContainEqual({
      policy: 'tree.tokens',
      used: 105,
      reserved: 0,
      remaining: 0,
      blocksNextLaunch: true,
    });
    expect(await stack.call.post(`${tree}/resume`, key('too-soon'))).toMatchObject({
      status: 409,
      body: { details: { code: 'EXECUTION_TREE_RESUME_BLOCKED', signals: [signal] } },
    });
    await settings({ treeBudget: { tokens: 1_000 } });
    expect(await stack.call.ok('POST', `${tree}/resume`, key('raised'))).toMatchObject({ state: 'open' });
    await running(root.attemptId);
  });

  test('a cancelled tree drains its queue, ends what runs, and takes nothing ever again', async () => {
    const root = await held(start());
    const running = (await child(root.attemptId)) as { taskId: string; attemptId: string };
    const waiting = (await child(running.attemptId)) as { taskId: string; attemptId: string; status: string };
    expect(waiting.status).toBe('queued');
    const tree = `${url}/tree/${root.attemptId}`;
    expect(await stack.call.ok('POST', `${tree}/cancel`, key('cancel-tree'))).toMatchObject({
      state: 'cancelled',
      control: { action: 'cancel', reason: 'not wanted' },
    });
    for (const { taskId } of [root, running, waiting]) {
      const { attempt } = await stack.call.ended(taskId);
      expect(attempt.completion.status).toBe('interrupted');
    }
    const summary = await eventually(async () => {
      const found = await stack.call.ok('GET', tree);
      expect(found.control.drained).toBe(true);
      return found;
    });
    expect(summary).toMatchObject({
      queued: 0,
      reserved: { runs: 0 },
      control: { drainedQueued: 1, interrupted: 2 },
    });
    expect(await child(root.attemptId, 'follow-up')).toMatchObject({ code: 'EXECUTION_TREE_CANCELLED' });
    expect(await stack.call.post(`${tree}/resume`, key('too-late'))).toMatchObject({
      status: 409,
      body: { details: { code: 'EXECUTION_TREE_CANCELLED' } },
    });
    expect(await stack.call.ok('POST', `${tree}/cancel`, key('cancel-tree'))).toMatchObject({ state: 'cancelled' });
    expect(await stack.call.post(`${tree}/cancel`, { ...key('cancel-tree'), reason: 'another' })).toMatchObject({
      status: 409,
      body: { code: 'IDEMPOTENCY_KEY_REUSED', details: { control: { reason: 'not wanted' } } },
    });
    // Recorded once, however often it was requested.
    const events = await stack.call.ok(
      'GET',
      `/api/telemetry/events?type=admission.tree_control&attemptId=${root.attemptId}`,
    );
    expect(events).toEqual([
      expect.objectContaining({
        taskId: root.taskId,
        details: expect.objectContaining({ action: 'cancel', reason: 'not wanted', descendants: 2 }),
      }),
    ]);
  });
});

test('every source of launches holds a reservation that names it', async () => {
  await settings({ limits: { global: { runs: 20 } } }, { enabled: true, globalKillSwitch: false, defaultMode: 'auto' });
  const root = await held(start());
  for (const source of launchSource.options) {
    const origin: LaunchOrigin =
      source === 'direct'
        ? { source, edge: 'root' }
        : {
            source,
            edge: 'follow-up',
            parentAttemptId: root.attemptId,
            workflow: { runId: 'run-1', stepId: 'step-1' },
          };
    const run = await eventually(async () => {
      const task = await aTask();
      const answer = await launchFrom(stack, origin, { taskId: task.id, request: {} });
      expect(answer.status).toBe('running');
      return answer as { taskId: string; attemptId: string };
    });
    attempts.push(run);
    expect(await stack.call.ok('GET', `${url}/${run.attemptId}`)).toMatchObject({
      state: 'active',
      request: { source },
      tree: { rootObjectiveId: source === 'direct' ? run.attemptId : root.attemptId },
    });
  }
  const { reservations } = await stack.call.ok('GET', `${url}?workflowRunId=run-1&workflowStepId=step-1`);
  expect(reservations).toHaveLength(launchSource.options.length - 1);
});
