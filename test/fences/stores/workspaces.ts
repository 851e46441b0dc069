import { releaseLease, takeLease } from '../../../activities/worktree/lease';
import type { WorkspaceCheckpoint } from '../../../contracts/runs/checkpoint';
import type { RunRecovery } from '../../../contracts/runs/recovery';
import type { WorkspaceRewind } from '../../../contracts/runs/rewind';
import { createRecoveryStore, type RecoveryStore } from '../../../stores/runs/recovery-store';
import { createCheckpointStore } from '../../../stores/runs/workspaces/checkpoint-store';
import { createRewindStore, type RewindStore } from '../../../stores/runs/workspaces/rewind-store';
import {
  createWorktreeStore,
  type WorktreeRecord,
  type WorktreeStore,
} from '../../../stores/runs/workspaces/worktree-store';
import { at, aWorktree, taskId } from '../../support/factories/records';
import { type Interleaving, interleaving } from '../interleaving';
import type { OpenStore } from './open-store';

/** What happens to a worktree happens to it as it was read: its manifest, its lease, its checkpoints and rewinds. */
export function workspaceFences(open: OpenStore): void {
  let db: Interleaving;
  beforeEach(async () => {
    db = interleaving(await open());
  });
  afterEach(async () => {
    expect(db.isThrough).toBe(true);
    await db.close();
  });

  describe('worktree manifests', () => {
    let store: WorktreeStore;
    beforeEach(async () => {
      store = await createWorktreeStore(db);
    });

    it('are made once for a task, and once for a path', async () => {
      expect(await store.insert(aWorktree())).toBeDefined();
      expect(await store.insert(aWorktree({ allocation: 'here:/elsewhere' }))).toBeUndefined();
      await expect(store.insert(aWorktree({ _id: 'task_20260101_other' }))).rejects.toThrow();
    });

    it('change from the revision that was read only', async () => {
      const read = (await store.insert(aWorktree()))!;
      await store.insert(aWorktree({ _id: 'task_20260101_other', allocation: 'here:/other' }));
      const changes = await Promise.all(
        (['rebasing', 'merging', 'cleanup'] as const).map((state) => store.change(read, { state }, at(1))),
      );
      const [changed] = changes.filter((record) => record !== undefined);
      expect(changes.filter((record) => record !== undefined)).toHaveLength(1);
      expect(await store.get(taskId)).toEqual(changed);
      expect(await store.get('task_20260101_other')).toMatchObject({ state: 'ready', revision: 1 });
    });

    it('retain the newest part of their history', async () => {
      const history = Array.from(
        { length: 60 },
        (_, n) => ({ at: at(n) }) as unknown as WorktreeRecord['history'][number],
      );
      const changed = await store.change((await store.insert(aWorktree()))!, { history }, at(1));
      expect(changed?.history).toEqual(history.slice(10));
    });

    it('issue fence tokens above those that were seen on the disk, to the holder only', async () => {
      const worktree = aWorktree();
      await store.insert({ ...worktree, lease: { ...worktree.lease, ownerAttemptId: 'a' } });
      const handOut = (attemptId: string, above?: number) => store.handOut(taskId, { attemptId, stage: 'run' }, above);
      expect(await handOut('a')).toBe(1);
      expect(await handOut('b', 7)).toBeUndefined();
      expect(await handOut('a', 7)).toBe(8);
      expect(await handOut('a', 3)).toBe(9);
    });

    describe('leases', () => {
      let now = at(0);
      const attempts = { get: () => Promise.resolve(undefined) };
      const deps = () => ({ worktrees: store, attempts, now: () => new Date(now) });
      const take = (attempt: string) => takeLease(deps(), taskId, attempt);
      const release = (attempt: string, next?: string) =>
        releaseLease(deps(), { taskId, attemptId: attempt, nextAttemptId: next });
      const owner = async () => (await store.get(taskId))?.lease.ownerAttemptId;
      beforeEach(async () => {
        now = at(0);
        await store.insert(aWorktree());
      });

      it('are held by one attempt, which may take its own again', async () => {
        expect(await take('a')).toMatchObject({ lease: { ownerAttemptId: 'a', expiresAt: at(60_000) } });
        expect(await take('b')).toMatchObject({ code: 'WORKTREE_IN_USE' });
        now = at(10_000);
        expect(await take('a')).toMatchObject({ lease: { ownerAttemptId: 'a', expiresAt: at(70_000) } });
        now = at(70_000);
        expect(await take('b')).toMatchObject({ lease: { ownerAttemptId: 'b' } });
      });

      it('go to the first of two who take them at once', async () => {
        db.before('worktrees', 'findOneAndUpdate', async () => {
          expect(await take('b')).toMatchObject({ lease: { ownerAttemptId: 'b' } });
        });
        expect(await take('a')).toMatchObject({ code: 'WORKTREE_IN_USE' });
        expect(await owner()).toBe('b');
      });

      it('are not taken from an operation that began meanwhile', async () => {
        db.before('worktrees', 'findOneAndUpdate', async () => {
          await store.change((await store.get(taskId))!, { state: 'rebasing' }, at(1));
        });
        expect(await take('a')).toMatchObject({ code: 'WORKTREE_BUSY' });
        expect(await owner()).toBeNull();
      });

      it.each(['removed', 'failed'] as const)('are not given on a worktree that is %s', async (state) => {
        await store.change((await store.get(taskId))!, { state }, at(1));
        expect(await take('a')).toMatchObject({ code: 'WORKTREE_MISSING' });
        expect(await takeLease(deps(), 'task_20260101_none0', 'a')).toMatchObject({ code: 'WORKTREE_MISSING' });
      });

      it('are given back by their owner only, however late another one comes', async () => {
        await take('a');
        await release('b');
        expect(await owner()).toBe('a');
        await release('a', 'next');
        expect(await owner()).toBe('next');
        const handed = await store.get(taskId);
        await release('a');
        expect(await store.get(taskId)).toEqual(handed);
        await release('next');
        expect(await owner()).toBeNull();
      });

      it('are given back although the manifest changed meanwhile, and not when the lease did', async () => {
        await take('a');
        db.before('worktrees', 'findOneAndUpdate', async () => {
          await store.change((await store.get(taskId))!, { recoverable: null }, at(1));
        });
        await release('a');
        expect(await owner()).toBeNull();
        await take('a');
        db.before('worktrees', 'findOneAndUpdate', async () => {
          await release('a', 'next');
        });
        await release('a');
        expect(await owner()).toBe('next');
      });
    });
  });

  it('a checkpoint has its number once', async () => {
    const store = await createCheckpointStore(db);
    const checkpoint = (id: string, tree: string) =>
      ({ id, attemptId: 'attempt_fence000001', number: 1, tree }) as WorkspaceCheckpoint;
    expect(await store.add(checkpoint('one', 'a'))).toBe(true);
    expect(await store.add(checkpoint('one', 'b'))).toBe(false);
    expect(await store.add(checkpoint('two', 'b'))).toBe(false);
    expect(await store.latest('attempt_fence000001')).toMatchObject({ id: 'one', tree: 'a' });
    expect(await store.get('one')).toMatchObject({ id: 'one', tree: 'a' });
    expect(await store.get('two')).toBeUndefined();
  });

  describe('rewinds', () => {
    let store: RewindStore;
    const plan = (state: WorkspaceRewind['state'] = 'planned') => ({ id: 'rewind', state, createdAt: at(0) });
    const states: WorkspaceRewind['state'][] = ['planned', 'committing', 'committed', 'failed'];
    beforeEach(async () => {
      store = await createRewindStore(db);
      await store.add({ ...plan('planned'), id: 'other' } as WorkspaceRewind);
    });
    afterEach(async () => expect(await store.get('other')).toMatchObject({ ...plan(), id: 'other' }));

    const steps: [string, WorkspaceRewind['state'][], () => Promise<WorkspaceRewind | undefined>][] = [
      ['approve', ['planned'], () => store.approve('rewind', 'approval', at(1))],
      ['begin', ['planned', 'committing'], () => store.begin('rewind', at(1))],
      ['end', ['committing'], () => store.end('rewind', { state: 'committed', updatedAt: at(1) })],
      ['recordDelivery', ['committed'], () => store.recordDelivery('rewind', null, at(1))],
    ];
    describe.each(steps)('%s', (_, from, step) => {
      it.each(states)('from %s', async (state) => {
        const before = await store.add(plan(state) as WorkspaceRewind);
        const changed = await step();
        if (from.includes(state)) {
          expect(changed).toMatchObject({ updatedAt: at(1) });
        } else {
          expect([changed, await store.get('rewind')]).toEqual([undefined, before]);
        }
      });
    });

    it('are planned once', async () => {
      await store.add(plan() as WorkspaceRewind);
      await store.begin('rewind', at(1));
      expect(await store.add(plan() as WorkspaceRewind)).toMatchObject({ state: 'committing' });
    });
  });

  describe('recoveries', () => {
    let store: RecoveryStore;
    const recovery = (fields: Partial<RunRecovery> = {}) =>
      ({
        attemptId: 'attempt_fence000001',
        taskId,
        state: 'scheduled',
        action: 'retry',
        nextAttemptId: 'attempt_fence000002',
        createdAt: at(0),
        ...fields,
      }) as RunRecovery;
    const cancel = { action: 'cancelled', state: 'cancelled', cancelledBy: 'ada' } as const;
    beforeEach(async () => {
      store = await createRecoveryStore(db);
      await store.schedule(recovery({ attemptId: 'attempt_fence000009' }));
    });
    afterEach(async () => expect(await store.get('attempt_fence000009')).toMatchObject({ state: 'scheduled' }));

    it('are decided once: what is scheduled first is final', async () => {
      const first = await store.schedule(recovery());
      const second = await store.schedule(recovery({ nextAttemptId: 'attempt_fence000003', state: 'exhausted' }));
      expect(second).toEqual(first);
      expect(second).toMatchObject({ nextAttemptId: 'attempt_fence000002', revision: 1 });
    });

    it('are ended by the refusal of the attempt that was to follow, once', async () => {
      const { attemptId } = await store.schedule(recovery());
      const refusal = (code: string) => ({ code, message: code, at: at(1) });
      const refuse = (next: string, code: string) => store.refuse(attemptId, next, refusal(code));
      expect(await refuse('attempt_fence000003', 'OTHER')).toBeUndefined();
      const refused = await refuse('attempt_fence000002', 'FIRST');
      expect(refused).toMatchObject({ action: 'terminal', state: 'exhausted', revision: 2, refusal: refusal('FIRST') });
      expect(refused).not.toHaveProperty('_id');
      expect(await refuse('attempt_fence000002', 'SECOND')).toBeUndefined();
      expect(await store.get(attemptId)).toEqual(refused);
    });

    it('are found by their attempt, and the newest by the task and the step of a workflow', async () => {
      const workflow = { runId: 'run', stepId: 'step' } as RunRecovery['workflow'];
      await store.schedule(recovery());
      await store.schedule(recovery({ attemptId: 'attempt_fence000005', workflow, createdAt: at(5) }));
      expect(await store.latest(taskId)).toMatchObject({ attemptId: 'attempt_fence000005' });
      expect(await store.latestOfStep('run', 'step')).toMatchObject({ attemptId: 'attempt_fence000005' });
      expect(await store.get('attempt_fence000005')).not.toHaveProperty('_id');
      expect([
        await store.get('attempt_none'),
        await store.latest('task_none'),
        await store.latestOfStep('run', 'other'),
      ]).toEqual([undefined, undefined, undefined]);
    });

    it('go one way: begun or cancelled, by who is first', async () => {
      const { attemptId } = await store.schedule(recovery());
      const [begun, cancelled] = await Promise.all([
        store.move(attemptId, { from: ['scheduled'], fields: { state: 'launching' }, updatedAt: at(1) }),
        store.move(attemptId, { from: ['scheduled'], fields: cancel, updatedAt: at(1) }),
      ]);
      expect([begun, cancelled].filter((each) => each !== undefined)).toHaveLength(1);
      expect(
        await store.move(attemptId, { from: ['scheduled'], fields: { state: 'launching' }, updatedAt: at(2) }),
      ).toBeUndefined();
      expect(await store.get(attemptId)).toMatchObject({ revision: 2, updatedAt: at(1) });
    });
  });
}
