import { asyncLocalStorage, type Context } from '@temporalio/activity';
import {
  type CompletionDependencies,
  createCompletionActivities,
} from '../../activities/agent-run/completion/activities';
import { createPrepareActivities, type PrepareDependencies } from '../../activities/agent-run/prepare/activities';
import { createWorktreeFences } from '../../activities/worktree/fences';
import { releaseLease, takeLease } from '../../activities/worktree/lease';
import { recordIdentity } from '../../activities/worktree/replaced';
import type { Refusal } from '../../contracts/refusal';
import { sampleRequest } from '../../domain/admission/sample-request';
import { identifySelf } from '../../platform/processes/identity';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { openBudgets } from '../../stores/governance/budgets/budgets';
import { createToolCatalogStore } from '../../stores/integrations/tool-catalog-store';
import { createActiveRunStore } from '../../stores/runs/admission/active-run-store';
import { createAttemptStore } from '../../stores/runs/attempt-store';
import { createWorktreeStore } from '../../stores/runs/workspaces/worktree-store';
import { anAttempt, at, aWorktree, taskId } from '../support/factories/records';
import { type AdmissionFixture, admissionFixture } from './admission-fixture';

const [id, next] = ['attempt_fence000001', 'attempt_fence000002'] as const;
const launch = { status: 'refused', code: 'HOST_UNAVAILABLE', message: 'no' } as unknown as Refusal;
const now = () => new Date(at(0));
let fixture: AdmissionFixture;
let dir: TempDir;
let deps: PrepareDependencies & CompletionDependencies;
/** What was done in the worktree. */
let done: string[];

beforeEach(async () => {
  fixture = await admissionFixture(now);
  dir = await makeTempDir('fences');
  done = [];
  const worktrees = await createWorktreeStore(fixture.db);
  const git = new Proxy(
    {},
    { get: (_, name) => async () => Promise.reject(new Error(String(done.push(String(name))))) },
  );
  deps = {
    attempts: await createAttemptStore(fixture.db),
    activeRuns: await createActiveRunStore(fixture.db),
    worktrees,
    admission: fixture.control,
    fences: createWorktreeFences({ worktrees, dir: dir.path, self: await identifySelf() }),
    git: { under: () => git },
    probe: async () => ({ manifest: { probe: { state: 'ok' } }, circuit: { state: 'closed' } }),
    hostFindings: async () => [],
    agentFindings: () => [],
    recoveries: { refuse: async () => undefined },
    withdrawApprovals: async () => undefined,
    notifyGoal: async () => false,
    planContinuation: async () => undefined,
    budgets: await openBudgets(fixture.db, { settings: fixture.control.settings, isOver: async () => false }),
    toolCatalogs: await createToolCatalogStore(fixture.db),
    log: fixture.control.log,
    now,
  } as unknown as PrepareDependencies & CompletionDependencies;
  const repository = { name: 'demo', path: '/repository', defaultBranch: 'main' };
  const target = { branch: 'task/fence', baseBranch: 'main' };
  await deps.attempts.create(anAttempt(id, { repository, git: target }));
  await deps.activeRuns.take(taskId, id);
  await worktrees.insert(aWorktree());
  await fixture.control.requests.put(sampleRequest(id, { taskId }));
  await fixture.control.reservations.reserve(sampleRequest(id, { taskId }), [], { now: now(), leaseMs: 60_000 });
});
afterEach(async () => {
  expect(fixture.db.isThrough).toBe(true);
  await fixture.close();
  await dir.remove();
});

/** A worker that prepares the attempt; the code of what it fails with. */
function prepare(): Promise<unknown> {
  const context = { info: { heartbeatTimeoutMs: 30_000, attempt: 1 }, heartbeat: () => undefined };
  return asyncLocalStorage.run(context as unknown as Context, () =>
    createPrepareActivities(deps)
      .prepare({ attemptId: id })
      .catch((error: unknown) => (error as { type?: string }).type ?? error),
  );
}
const abandon = () => createCompletionActivities(deps).abandon({ attemptId: id, launch });

/** The launch is refused, and the next one finds the worktree free. */
async function expectReleased(): Promise<void> {
  expect(await deps.attempts.get(id)).toMatchObject({ state: 'refused', launch: { code: 'HOST_UNAVAILABLE' } });
  expect((await deps.worktrees.get(taskId))?.lease.ownerAttemptId).toBeNull();
  expect(await deps.activeRuns.holder(taskId)).toBeUndefined();
  expect(await takeLease(deps, taskId, next)).toMatchObject({ lease: { ownerAttemptId: next } });
}

describe('a launch that is given up while a worker prepares it late', () => {
  it.each([
    ['admission-reservations', 'findOneAndUpdate'],
    ['worktrees', 'get'],
    ['worktrees', 'findOneAndUpdate'],
    ['active-runs', 'deleteMany'],
  ] as const)('leaves nothing taken: the prepare comes before its step in %s (%s)', async (collection, method) => {
    // The lease of an earlier try: what is to be released.
    await takeLease(deps, taskId, id);
    let late: unknown;
    fixture.db.before(collection, method, async () => (late = await prepare()));
    await abandon();
    expect([late, done]).toEqual(['RUN_GONE', []]);
    await expectReleased();
  });

  it.each([
    ['before', 'worktrees', 'get'],
    ['before', 'worktrees', 'findOneAndUpdate'],
    ['after', 'worktrees', 'findOneAndUpdate'],
  ] as const)(
    'leaves nothing taken: it is given up %s the step of the prepare in %s (%s)',
    async (when, name, method) => {
      fixture.db[when](name, method, abandon);
      expect([await prepare(), done]).toEqual(['RUN_GONE', []]);
      await expectReleased();
    },
  );

  it('leaves nothing taken: it is given up before the prepare asks whether it is over', async () => {
    // Its record is read before anything is taken, too.
    fixture.db.after('attempts', 'get', () => fixture.db.before('attempts', 'get', abandon));
    expect([await prepare(), done]).toEqual(['RUN_GONE', []]);
    await expectReleased();
  });

  it('is refused also when it was prepared by then, and is not dispatched', async () => {
    const contract = { launch: { status: 'running' } } as unknown as Parameters<typeof deps.attempts.markPrepared>[1];
    await deps.attempts.markPrepared(id, contract);
    fixture.db.before('worktrees', 'get', async () => expect(await deps.attempts.dispatch(id)).toBeUndefined());
    await abandon();
    await expectReleased();
  });
});

describe('which directory a worktree is', () => {
  const identity = { device: '1', inode: '2', born: '3' };
  const recorded = async () => (await deps.worktrees.get(taskId))?.identity;

  it('is recorded by who has the worktree, and not by who had it', async () => {
    await recordIdentity(deps, taskId, { identity, fence: { holds: async () => false } });
    expect(await recorded()).toBeUndefined();
    await recordIdentity(deps, taskId, { identity, fence: { holds: async () => true } });
    expect(await recorded()).toEqual(identity);
  });

  it('is not recorded by who loses the worktree at that moment', async () => {
    await takeLease(deps, taskId, id);
    const fence = (await deps.fences.take(taskId, { attemptId: id, stage: 'reclaim' }))!;
    fixture.db.before('worktrees', 'findOneAndUpdate', () =>
      releaseLease(deps, { taskId, attemptId: id, nextAttemptId: next }),
    );
    await recordIdentity(deps, taskId, { identity, fence });
    expect(await recorded()).toBeUndefined();
  });
});

describe('the lease of a worktree', () => {
  const leaseTo = async (ownerAttemptId: string) => {
    const manifest = (await deps.worktrees.get(taskId))!;
    await deps.worktrees.change(manifest, { lease: { ...manifest.lease, ownerAttemptId } }, at(0));
  };

  it.each([{ state: 'ended' }, { state: 'refused' }, { abandonedAt: at(1) }] as const)(
    'does not count when its attempt is over: %j',
    async (over) => {
      await deps.attempts.create(anAttempt('attempt_fence000003', over));
      await leaseTo('attempt_fence000003');
      expect(await takeLease(deps, taskId, next)).toMatchObject({ lease: { ownerAttemptId: next } });
    },
  );

  it('is kept for an attempt that continues, or that is yet to be launched', async () => {
    await leaseTo(id);
    expect(await takeLease(deps, taskId, next)).toMatchObject({ code: 'WORKTREE_IN_USE' });
    await leaseTo('attempt_fence000004');
    expect(await takeLease(deps, taskId, next)).toMatchObject({ code: 'WORKTREE_IN_USE' });
  });
});
