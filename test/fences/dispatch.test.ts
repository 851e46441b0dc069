import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { observeWorktree } from '../../activities/agent-run/completion/observe-worktree';
import { createDispatchActivities, type DispatchDependencies } from '../../activities/agent-run/dispatch/activities';
import type { WorktreeHostDependencies } from '../../activities/worktree/dependencies';
import { createWorktreeFences } from '../../activities/worktree/fences';
import { step } from '../../activities/worktree/step';
import { sampleRequest } from '../../domain/admission/sample-request';
import { identify } from '../../platform/processes/identity';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { GitError } from '../../providers/git/git-error';
import { createAttemptHandleStore } from '../../stores/runs/attempt-handle-store';
import { type AttemptRecord, createAttemptStore } from '../../stores/runs/attempt-store';
import { createRunEventStore } from '../../stores/runs/event-store';
import { createWorktreeStore, type WorktreeStore } from '../../stores/runs/workspaces/worktree-store';
import { createFeedStore } from '../../stores/system/feed-store';
import { aClaim, aCompletion, anAttempt, at, aWorktree, taskId } from '../support/factories/records';
import { type AdmissionFixture, admissionFixture, log } from './admission-fixture';

const id = 'attempt_fence000001';
let now = new Date(at(0));
let fixture: AdmissionFixture;
let deps: DispatchDependencies;
/** What was done to the world: every agent that was started and every process that was ended. */
let done: string[];

beforeEach(async () => {
  now = new Date(at(0));
  fixture = await admissionFixture(() => now);
  done = [];
  const provider = {
    run: async () => void done.push('run'),
    reattach: async () => void done.push('reattach'),
    endOrphans: async () => {
      done.push('endOrphans');
      return [];
    },
  };
  const git = new Proxy({}, { get: (_, name) => async () => void done.push(`git ${String(name)}`) });
  deps = {
    admission: fixture.control,
    attempts: await createAttemptStore(fixture.db),
    handles: await createAttemptHandleStore(fixture.db, { workspaceId: 'local' }),
    toolBridge: {
      handles: await createAttemptHandleStore(fixture.db, { workspaceId: 'local', kind: 'tools' }),
      pool: { close: async () => undefined },
      url: 'http://127.0.0.1:1',
    },
    providers: { find: () => provider },
    git,
    hostId: 'here',
    self: (await identify(process.pid))!,
    queue: 'q',
    stops: { add: () => () => undefined },
    leaving: new AbortController().signal,
    stopping: new AbortController().signal,
    sleep: { look: () => undefined, onSlept: () => () => undefined },
    isRunOpen: async () => true,
    agentsDir: '/nonexistent/agents',
    transportDir: '/nonexistent/transports',
    limits: { runTimeoutMs: 1_000, outputLimitBytes: 1_000, stopGraceMs: 10 },
    log,
    now: () => now,
  } as unknown as DispatchDependencies;
});
afterEach(async () => {
  expect(fixture.db.isThrough).toBe(true);
  await fixture.close();
});

/** Runs an activity as a worker does, as far as the activity can see. */
function asActivity<T>(work: () => Promise<T>, attempt = 1): Promise<T> {
  const context = {
    info: { heartbeatTimeoutMs: 30_000, attempt },
    heartbeat: () => undefined,
    cancellationSignal: new AbortController().signal,
  };
  return asyncLocalStorage.run(context as unknown as Context, work);
}
const activities = () => createDispatchActivities(deps);
const dispatch = () => asActivity(() => activities().dispatch({ attemptId: id }));
const reclaim = (force = true) => asActivity(() => activities().reclaim({ attemptId: id, force }));

async function anAttemptThatHolds(fields: Partial<AttemptRecord>): Promise<AttemptRecord> {
  const request = sampleRequest(id, { taskId });
  await fixture.control.requests.put(request);
  await fixture.control.reservations.reserve(request, [], { now, leaseMs: 60_000 });
  return deps.attempts.create(anAttempt(id, fields));
}

describe('a dispatch', () => {
  it('starts no agent without capacity', async () => {
    const before = await deps.attempts.create(anAttempt(id, { state: 'prepared' }));
    await expect(dispatch()).rejects.toMatchObject({ type: 'ADMISSION_RESERVATION_MISSING', nonRetryable: true });
    expect([done, await deps.attempts.get(id)]).toEqual([[], before]);
  });

  it('starts no agent whose capacity was given back, nor one of a cancelled tree', async () => {
    await anAttemptThatHolds({ state: 'prepared' });
    await fixture.control.trees.open(sampleRequest(id, { taskId }));
    const note = { action: 'cancel' as const, actor: 'a', reason: 'r', at: at(1), keyHash: null };
    await fixture.control.trees.cancel(id, note);
    await expect(dispatch()).rejects.toMatchObject({ type: 'EXECUTION_TREE_CANCELLED' });
    await fixture.control.reservations.release(id, { reason: 'cancelled', evidence: 'over', now });
    await expect(dispatch()).rejects.toMatchObject({ type: 'EXECUTION_TREE_CANCELLED' });
    expect(done).toEqual([]);
  });

  it.each(['admitted', 'dispatched', 'running', 'ended', 'refused'] as const)(
    'starts no agent of an attempt that is %s',
    async (state) => {
      const before = await anAttemptThatHolds({ state });
      await expect(dispatch()).rejects.toMatchObject({ type: 'ALREADY_DISPATCHED', nonRetryable: true });
      expect([done, await deps.attempts.get(id)]).toEqual([[], before]);
    },
  );

  it('starts no agent when another worker was first, or the attempt was reclaimed at that moment', async () => {
    await anAttemptThatHolds({ state: 'prepared' });
    fixture.db.after('admission-reservations', 'findOneAndUpdate', () => deps.attempts.reclaim(id, at(1)));
    await expect(dispatch()).rejects.toMatchObject({ type: 'ALREADY_DISPATCHED' });
    expect(done).toEqual([]);
  });

  it('starts no agent without a contract, and is not done again for that', async () => {
    await anAttemptThatHolds({ state: 'prepared' });
    await expect(dispatch()).rejects.toMatchObject({ type: 'CONTRACT_MISSING' });
    await expect(dispatch()).rejects.toMatchObject({ type: 'ALREADY_DISPATCHED' });
    expect(done).toEqual([]);
  });
});

describe('a late reclaim', () => {
  it.each([
    ['has ended', { state: 'ended' as const, completion: aCompletion('done') }],
    ['has claimed', { state: 'running' as const, claim: aClaim('done') }],
  ])('touches nothing of an attempt that %s', async (_, fields) => {
    const before = await anAttemptThatHolds(fields);
    expect(await reclaim()).toEqual({ claimed: true });
    expect([done, await deps.attempts.get(id)]).toEqual([[], before]);
  });

  it('touches nothing of an attempt that claims at that moment', async () => {
    const supervisor = { ...deps.self, hostId: 'here', until: at(0) };
    await anAttemptThatHolds({ state: 'running', supervisor });
    fixture.db.before('attempts', 'findOneAndUpdate', () => deps.attempts.claim(id, aClaim('done'), deps.self));
    expect(await reclaim()).toEqual({ claimed: true });
    expect(done).toEqual([]);
    expect(await deps.attempts.get(id)).not.toHaveProperty('reclaimed');
  });

  it('waits for a worker of this host that lives and supervises, unless it is forced', async () => {
    const supervisor = { ...deps.self, hostId: 'here', until: at(60_000) };
    await anAttemptThatHolds({ state: 'running', supervisor });
    let over = false;
    const waiting = reclaim(false).finally(() => (over = true));
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect([over, done]).toEqual([false, []]);
    await deps.attempts.claim(id, aClaim('done'), deps.self);
    expect(await waiting).toEqual({ claimed: true });
    expect(done).toEqual([]);
  });

  it.each([
    ['another host', { hostId: 'there' }],
    ['a process that is gone', { startTime: '1' }],
    ['a lease that is over', { until: at(-1) }],
  ])('does not wait for %s', async (_, fields) => {
    const supervisor = { ...deps.self, hostId: 'here', until: at(60_000), ...fields };
    await anAttemptThatHolds({ state: 'running', supervisor });
    expect(await reclaim(false)).toEqual({ claimed: false });
    expect(done).toEqual(['endOrphans']);
  });
});

describe('a reclaim of an agent that ran as another user', () => {
  const fields = {
    state: 'running' as const,
    taskEnvelope: { workspace: { path: '/worktree' } } as AttemptRecord['taskEnvelope'],
    baseline: { gitDir: '/git' } as AttemptRecord['baseline'],
  };

  it('takes no worktree back that the next run was given while its worker was asleep', async () => {
    deps.agentAccess = { give: async () => void done.push('give'), take: async () => void done.push('take') };
    const fence = { locks: [], holds: async () => false };
    deps.fences = { take: async () => fence, share: async () => fence };
    await anAttemptThatHolds(fields);
    await expect(reclaim()).rejects.toMatchObject({ code: 'fenced' });
    expect(done).not.toContain('take');
  });
});

describe('a worktree with too much for git', () => {
  const tooLong = new GitError('timeout', 'git add took longer than 60000 ms.');
  const fields = {
    state: 'running' as const,
    taskEnvelope: { workspace: { path: '/worktree' } } as AttemptRecord['taskEnvelope'],
    baseline: { gitDir: '/git' } as AttemptRecord['baseline'],
  };
  const git = (error: Error) => {
    const refused = () => Promise.reject(error);
    const commands = { preserveAttempt: refused, collectChanges: refused };
    return { ...commands, under: () => commands } as unknown as DispatchDependencies['git'];
  };
  beforeEach(async () => {
    const fence = { locks: [], holds: async () => true };
    deps.fences = { take: async () => fence, share: async () => fence };
    deps.events = await createRunEventStore(fixture.db, await createFeedStore(fixture.db));
    deps.phases = { get: async () => undefined } as unknown as DispatchDependencies['phases'];
  });

  it('does not have its reclaim tried for ever', async () => {
    deps.git = git(tooLong);
    await anAttemptThatHolds(fields);
    const tried = (attempt: number) => asActivity(() => activities().reclaim({ attemptId: id, force: false }), attempt);
    await expect(tried(1)).rejects.toBe(tooLong);
    expect(await tried(3)).toEqual({ claimed: false });
    expect((await deps.attempts.get(id))?.reclaimed?.workLost).toContain('stays in its worktree: git add took longer');

    deps.git = git(new GitError('failed', 'git add: no reason given'));
    await expect(tried(3)).rejects.toMatchObject({ code: 'failed' });
  });

  it('leaves what the agent has reported to the judgement of its end', async () => {
    const record = await anAttemptThatHolds(fields);
    expect(await observeWorktree({ ...deps, git: git(tooLong) }, record, {})).toEqual({
      workLost: expect.stringContaining('git add took longer') as string,
    });
    await expect(
      observeWorktree({ ...deps, git: git(new GitError('fenced', 'gone')) }, record, {}),
    ).rejects.toMatchObject({ code: 'fenced' });
  });
});

describe('a step of an operation on a worktree', () => {
  let worktrees: WorktreeStore;
  let dir: TempDir;
  let worked: number;
  const operation = { id: 'op', kind: 'rebase' as const, actor: 'ada', startedAt: at(0) };
  /** Its git is what is handed on, and does nothing. */
  const host = () =>
    ({
      worktrees,
      fences: createWorktreeFences({ worktrees, dir: dir.path, self: deps.self }),
      git: { under: () => ({}) },
    }) as unknown as WorktreeHostDependencies;
  const run = (operationId: string) =>
    asActivity(() =>
      step(host(), { taskId, operationId, expected: 'rebasing' }, async (record) => {
        worked += 1;
        return { state: record.state };
      }),
    );
  beforeEach(async () => {
    worktrees = await createWorktreeStore(fixture.db);
    dir = await makeTempDir('fences');
    worked = 0;
  });
  afterEach(() => dir.remove());

  it('is done in the state and the operation it belongs to', async () => {
    await worktrees.insert(aWorktree({ state: 'rebasing', operation }));
    expect(await run('op')).toEqual({ state: 'rebasing' });
    expect(worked).toBe(1);
  });

  it.each([
    ['the operation has moved on', { state: 'merging' as const, operation }],
    ['the operation is over', { state: 'ready' as const, operation: null }],
    ['another operation is under way', { state: 'rebasing' as const, operation: { ...operation, id: 'other' } }],
  ])('is not done when %s', async (_, fields) => {
    await worktrees.insert(aWorktree(fields));
    expect(await run('op')).toEqual({ state: fields.state });
    expect(worked).toBe(0);
  });

  it('is not done when the operation ends between the look and the token', async () => {
    await worktrees.insert(aWorktree({ state: 'rebasing', operation }));
    fixture.db.after('worktrees', 'get', async () => {
      const read = (await worktrees.get(taskId))!;
      await worktrees.change(read, { state: 'ready', operation: null }, at(1));
    });
    await expect(run('op')).rejects.toMatchObject({ type: 'REVISION_MOVED' });
    expect(worked).toBe(0);
  });

  it('answers again how its operation was refused', async () => {
    const refusal = { code: 'WORKTREE_DIRTY', message: 'dirty' };
    const entry = { at: at(1), operationId: 'op', kind: 'rebase' as const, actor: 'ada', result: 'failed' as const };
    await worktrees.insert(aWorktree({ history: [{ ...entry, refusal }] }));
    expect(await run('op')).toMatchObject({ status: 'refused', code: 'WORKTREE_DIRTY' });
    expect(worked).toBe(0);
  });

  it('is not done without a manifest', async () => {
    await expect(run('op')).rejects.toThrow();
    expect(worked).toBe(0);
  });
});
