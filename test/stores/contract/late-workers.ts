import type { AttemptState } from '../../../contracts/runs/attempt';
import type { CompletionResult } from '../../../contracts/runs/completion';
import type { TerminalClaim } from '../../../domain/completion';
import { type AttemptRecord, type AttemptStore, createAttemptStore } from '../../../stores/runs/attempt-store';
import { createWorktreeStore } from '../../../stores/runs/workspaces/worktree-store';
import { aWorktree } from '../../support/git/worktrees';
import { type StoreHarness, uniqueName, useTwoConnections } from './harness';

const at = '2026-01-01T00:00:00.000Z';
const worker = (pid: number) => ({ pid, startTime: '1', bootId: 'boot', hostId: 'host', until: at });
const claim = { status: 'success', summary: '' } as TerminalClaim;
const completion = { status: 'interrupted', completedAt: at } as CompletionResult;
const agent = { pid: 7, startTime: '7', bootId: 'boot', hostId: 'host' };

/** What a worker finds refused that was asleep while its attempt moved on. */
export function lateWorkersContract(harness: StoreHarness): void {
  describe('an attempt that moved on while its worker was asleep', () => {
    const db = useTwoConnections(harness);
    let late: AttemptStore;
    let other: AttemptStore;
    beforeEach(async () => {
      [late, other] = await Promise.all([createAttemptStore(db.one), createAttemptStore(db.other)]);
    });

    async function anAttempt(state: AttemptState): Promise<string> {
      const _id = uniqueName();
      await late.create({ _id, taskId: _id, state, revision: 1, createdAt: at } as AttemptRecord);
      return _id;
    }

    it('is not dispatched once it was reclaimed, or has ended', async () => {
      const reclaimed = await anAttempt('prepared');
      await other.reclaim(reclaimed, at);
      expect(await late.dispatch(reclaimed, worker(1))).toBeUndefined();
      const ended = await anAttempt('prepared');
      await other.complete(ended, completion);
      expect(await late.dispatch(ended, worker(1))).toBeUndefined();
    });

    it('is not prepared once it has ended', async () => {
      const ended = await anAttempt('admitted');
      await other.complete(ended, completion);
      expect(await late.markPrepared(ended, {} as Parameters<AttemptStore['markPrepared']>[1])).toBeUndefined();
    });

    it('is neither prepared nor dispatched once its launch was given up, and is refused also when it was prepared', async () => {
      const launch = { status: 'refused' } as Parameters<AttemptStore['refuse']>[1];
      const admitted = await anAttempt('admitted');
      expect(await other.abandon(admitted, at)).toMatchObject({ state: 'admitted', abandonedAt: at });
      expect(await other.abandon(admitted, 'later')).toBeUndefined();
      expect(await late.markPrepared(admitted, {} as Parameters<AttemptStore['markPrepared']>[1])).toBeUndefined();
      const prepared = await anAttempt('prepared');
      await other.abandon(prepared, at);
      expect(await late.dispatch(prepared, worker(1))).toBeUndefined();
      expect(await other.refuse(prepared, launch, at)).toMatchObject({ state: 'refused' });
      const dispatched = await anAttempt('dispatched');
      expect(await other.abandon(dispatched, at)).toBeUndefined();
      expect(await other.refuse(dispatched, launch, at)).toBeUndefined();
    });

    it('starts no agent once it was reclaimed, has ended, or is supervised by another worker', async () => {
      const id = await anAttempt('prepared');
      await late.dispatch(id, worker(1));
      expect(await late.isSupervisedBy(id, worker(1))).toBe(true);
      expect(await late.isSupervisedBy(id, { ...worker(1), startTime: '2' })).toBe(false);
      expect(await late.isSupervisedBy(id, { ...worker(1), bootId: 'another' })).toBe(false);
      expect(await late.start(id, { process: agent, startedAt: at, supervisor: worker(2) })).toBeUndefined();
      await other.reclaim(id, at);
      expect(await late.isSupervisedBy(id, worker(1))).toBe(false);
      expect(await late.start(id, { process: agent, startedAt: at, supervisor: worker(1) })).toBeUndefined();

      const ended = await anAttempt('prepared');
      await late.dispatch(ended, worker(1));
      await other.complete(ended, completion);
      expect(await late.isSupervisedBy(ended, worker(1))).toBe(false);
      expect(await late.start(ended, { process: agent, startedAt: at, supervisor: worker(1) })).toBeUndefined();
    });

    it('claims nothing once another worker has taken it over', async () => {
      const id = await anAttempt('prepared');
      await late.dispatch(id, worker(1));
      const running = await late.start(id, { process: agent, startedAt: at, supervisor: worker(1) });
      expect(await other.takeOver(id, running!.revision, worker(2))).toBeDefined();
      expect(await late.claim(id, claim, worker(1))).toBeUndefined();
      expect(await other.claim(id, claim, worker(2))).toBeDefined();
      expect(await late.takeOver(id, running!.revision + 1, worker(1))).toBeUndefined();
    });

    it('is handed no token for a worktree that it gave back, or for a stage that is over', async () => {
      const [one, two] = await Promise.all([createWorktreeStore(db.one), createWorktreeStore(db.other)]);
      const taskId = uniqueName();
      const lease = { leaseId: 'lease', ownerAttemptId: 'first', seconds: 60, expiresAt: at };
      await one.insert(aWorktree(taskId, { state: 'ready', lease }));
      const holder = { attemptId: 'first', stage: 'run' } as const;
      const both = await Promise.all([one.handOut(taskId, holder), two.handOut(taskId, holder)]);
      expect(both.toSorted()).toEqual([1, 2]);
      expect([await one.isLast(taskId, holder, 1), await one.isLast(taskId, holder, 2)]).toEqual([false, true]);
      expect(await one.handOut(taskId, { attemptId: 'first', stage: 'prepare' })).toBeUndefined();
      expect(await one.handOut(taskId, { attemptId: 'second', stage: 'run' })).toBeUndefined();
      expect(await one.handOut(taskId, { operationId: 'op_1' })).toBeUndefined();
      expect(await two.handOut(taskId, { attemptId: 'first', stage: 'reclaim' }, 40)).toBe(41);
      expect(await one.handOut(taskId, holder)).toBeUndefined();

      const manifest = (await one.get(taskId))!;
      await one.change(manifest, { lease: { ...lease, ownerAttemptId: 'second' } }, at);
      expect(await two.isLast(taskId, { attemptId: 'first', stage: 'reclaim' }, 41)).toBe(false);
      expect(await two.handOut(taskId, { attemptId: 'second', stage: 'prepare' })).toBe(42);
    });

    it('is not reclaimed once it has ended, also without a claim', async () => {
      const id = await anAttempt('running');
      expect(await other.reclaim(id, at)).toBeDefined();
      await other.complete(id, completion);
      expect(await late.reclaim(id, at)).toBeUndefined();
    });
  });
}
