import type { LaunchOutcome } from '../../../contracts/runs/launch/launch';
import type { Database } from '../../../stores/port/collection';
import { createActiveRunStore } from '../../../stores/runs/admission/active-run-store';
import { type AttemptRecord, type AttemptStore, createAttemptStore } from '../../../stores/runs/attempt-store';
import { createLaunchStore } from '../../../stores/runs/launch/launch-store';
import { aClaim, aCompletion, anAttempt, at, taskId } from '../../support/factories/records';
import type { OpenStore } from './open-store';

const id = 'attempt_fence000001';
const running = (startedAt: string) => ({ status: 'running', attemptId: id, startedAt }) as unknown as LaunchOutcome;
const refusal = (message: string) => ({ status: 'refused', code: 'X', message }) as unknown as LaunchOutcome;
const contract = (hostId: string) =>
  ({ hostId, launch: running(at(1)) }) as Parameters<AttemptStore['markPrepared']>[1];
const supervisor = (pid: number, until = at(30_000)) => ({
  pid,
  startTime: `${pid}`,
  bootId: 'b',
  hostId: 'here',
  until,
});
const process = (pid: number) => ({ pid, startTime: '1', bootId: 'b', hostId: 'here' });
const states: AttemptRecord['state'][] = [
  'queued',
  'admitted',
  'prepared',
  'dispatched',
  'running',
  'ended',
  'refused',
];

/** Every step of an attempt happens once and from where it may: a late and a repeated one find nothing to do. */
export function attemptFences(open: OpenStore): void {
  describe('attempts', () => {
    let db: Database;
    let store: AttemptStore;
    beforeEach(async () => {
      db = await open();
      store = await createAttemptStore(db);
      // Another one, which no step on the first may touch.
      await store.create(anAttempt('attempt_fence000002', { state: 'running' }));
    });
    afterEach(async () => {
      expect(await store.get('attempt_fence000002')).toMatchObject({ state: 'running', revision: 1 });
      await db.close();
    });

    const make = (fields: Partial<AttemptRecord> = {}) =>
      store.create(anAttempt(id, { supervisor: supervisor(1), ...fields }));

    describe.each([
      ['reclaimed', { reclaimed: { at: at(1) } }],
      ['completed', { completion: aCompletion('done') }],
    ])('once it was %s', (_, over) => {
      it.each<[string, AttemptRecord['state'], () => Promise<AttemptRecord | undefined>]>([
        ['prepared', 'admitted', () => store.markPrepared(id, contract('here'))],
        ['dispatched', 'prepared', () => store.dispatch(id, supervisor(1))],
        [
          'started',
          'dispatched',
          () => store.start(id, { process: process(7), startedAt: at(1), supervisor: supervisor(1) }),
        ],
        [
          'started without a supervisor',
          'dispatched',
          () => store.start(id, { process: process(7), startedAt: at(1) }),
        ],
        ['claimed', 'running', () => store.claim(id, aClaim('late'), supervisor(1))],
        ['taken over', 'running', () => store.takeOver(id, 1, supervisor(2))],
      ])('is not %s', async (_step, state, step) => {
        const before = await make({ state, ...over });
        expect([await step(), await store.get(id)]).toEqual([undefined, before]);
        expect(await store.isSupervisedBy(id, supervisor(1))).toBe(false);
      });
    });

    it.each([
      ['another process', { pid: 2 }],
      ['another process of the same number', { startTime: '2' }],
    ])('is neither started nor claimed by %s than its supervisor', async (_, fields) => {
      const other = { ...supervisor(1), ...fields };
      await make({ state: 'dispatched' });
      expect(await store.start(id, { process: process(7), startedAt: at(1), supervisor: other })).toBeUndefined();
      expect(await store.claim(id, aClaim('late'), other)).toBeUndefined();
      expect(await store.isSupervisedBy(id, other)).toBe(false);
      expect(await store.isSupervisedBy(id, { ...supervisor(1), bootId: 'earlier' })).toBe(false);
      expect(await store.isSupervisedBy(id, supervisor(1))).toBe(true);
      expect(await store.isSupervisedBy('attempt_fence000009', supervisor(1))).toBe(false);
    });

    it('is not reclaimed once it has ended', async () => {
      const before = await make({ state: 'ended', completion: aCompletion('done') });
      expect(await store.reclaim(id, at(5))).toBeUndefined();
      expect(await store.get(id)).toEqual(before);
    });

    it('is the one of its task that has it, else the newest that was launched', async () => {
      const latest = async () => (await store.latest('task_20260101_latest'))?._id;
      const add = (_id: string, state: AttemptRecord['state'], ms: number) =>
        store.create(anAttempt(_id, { taskId: 'task_20260101_latest', state, createdAt: at(ms) }));
      expect(await latest()).toBeUndefined();
      await add('attempt_ended', 'ended', 1);
      await add('attempt_refused', 'refused', 9);
      expect(await latest()).toBe('attempt_ended');
      await add('attempt_admitted1', 'admitted', 2);
      await add('attempt_admitted2', 'admitted', 3);
      expect(await latest()).toBe('attempt_admitted1');
      await add('attempt_running', 'running', 4);
      expect(await latest()).toBe('attempt_running');
    });

    it('has its events purged only once everything about its end is done', async () => {
      await make({ state: 'running', endedAt: at(1) });
      await store.create(anAttempt('attempt_fence000004', { state: 'ended', endedAt: at(2) }));
      await store.create(anAttempt('attempt_fence000005', { state: 'ended', endedAt: at(90) }));
      const due = [];
      for await (const { _id } of store.endedBefore(at(50))) {
        due.push(_id);
      }
      expect(due).toEqual(['attempt_fence000004']);
      await store.eventsPurged('attempt_fence000004', at(60));
      for await (const { _id } of store.endedBefore(at(50))) {
        due.push(_id);
      }
      expect(due).toHaveLength(1);
    });

    it('is made once: the first record is final', async () => {
      await make({ agent: 'bee' });
      expect(await make({ agent: 'wasp' })).toMatchObject({ agent: 'bee' });
      expect(await store.get(id)).toMatchObject({ agent: 'bee' });
    });

    /** Each step with the states it may be made from. */
    const steps: [string, AttemptRecord['state'][], () => Promise<AttemptRecord | undefined>][] = [
      ['answer', ['queued', 'admitted'], () => store.answer(id, running(at(1)), 'queued')],
      ['abandon', ['queued', 'admitted', 'prepared'], () => store.abandon(id, at(1))],
      ['refuse', ['queued', 'admitted', 'prepared', 'refused'], () => store.refuse(id, refusal('no'), at(1))],
      ['prepare', ['queued', 'admitted'], () => store.markPrepared(id, contract('here'))],
      ['dispatch', ['prepared'], () => store.dispatch(id, supervisor(1))],
      ['start', ['dispatched'], () => store.start(id, { process: process(7), startedAt: at(1) })],
      ['claim', ['dispatched', 'running'], () => store.claim(id, aClaim('done'), supervisor(1))],
      ['takeOver', ['running'], () => store.takeOver(id, 1, supervisor(2))],
    ];
    describe.each(steps)('%s', (_, from, step) => {
      it.each(states)('from %s', async (state) => {
        const before = await make({ state });
        const changed = await step();
        if (from.includes(state)) {
          expect(changed).toMatchObject({ revision: 2 });
        } else {
          expect([changed, await store.get(id)]).toEqual([undefined, before]);
        }
      });
    });

    it('is dispatched to exactly one of many', async () => {
      await make({ state: 'prepared' });
      const answers = await Promise.all([1, 2, 3, 4, 5].map((pid) => store.dispatch(id, supervisor(pid))));
      const winners = answers.filter((record) => record !== undefined);
      expect(winners).toHaveLength(1);
      expect((await store.get(id))?.supervisor).toEqual(winners[0]?.supervisor);
    });

    it('is prepared with the contract of the first, and dispatched with that', async () => {
      await make();
      await store.markPrepared(id, contract('here'));
      expect(await store.markPrepared(id, contract('there'))).toBeUndefined();
      expect(await store.get(id)).toMatchObject({ hostId: 'here', state: 'prepared' });
    });

    it('ends with the first completion, whatever completes it later', async () => {
      await make({ state: 'running' });
      const answers = await Promise.all(['a', 'b', 'c'].map((summary) => store.complete(id, aCompletion(summary))));
      const [first] = answers.filter((record) => record !== undefined);
      expect(answers.filter((record) => record !== undefined)).toHaveLength(1);
      expect(await store.complete(id, aCompletion('late', 'failed'))).toBeUndefined();
      expect((await store.get(id))?.completion).toEqual(first?.completion);
    });

    it('claims once, and never after it was reclaimed', async () => {
      await make({ state: 'running' });
      expect(await store.claim(id, aClaim('first'), supervisor(1))).toBeDefined();
      expect(await store.claim(id, aClaim('second'), supervisor(1))).toBeUndefined();
      expect((await store.get(id))?.claim?.summary).toBe('first');
      expect(await store.reclaim(id, at(5))).toBeUndefined();

      const other = 'attempt_fence000003';
      await store.create(anAttempt(other, { state: 'running', supervisor: supervisor(1) }));
      expect(await store.reclaim(other, at(5))).toMatchObject({ reclaimed: { at: at(5) } });
      expect(await store.claim(other, aClaim('late'), supervisor(1))).toBeUndefined();
      expect(await store.get(other)).not.toHaveProperty('claim');
    });

    it.each([
      ['claimed', { claim: aClaim('done') }],
      ['reclaimed', { reclaimed: { at: at(1) } }],
      ['completed', { completion: aCompletion('done') }],
      ['changed since it was read', { revision: 5 }],
    ])('is not taken over when it is %s', async (_, fields) => {
      const before = await make({ state: 'running', supervisor: supervisor(1), ...fields });
      expect(await store.takeOver(id, 1, supervisor(2))).toBeUndefined();
      expect(await store.get(id)).toEqual(before);
    });

    it('is taken over by exactly one of those who read the same', async () => {
      await make({ state: 'running', supervisor: supervisor(1) });
      const answers = await Promise.all([2, 3, 4].map((pid) => store.takeOver(id, 1, supervisor(pid))));
      expect(answers.filter((record) => record !== undefined)).toHaveLength(1);
    });

    it('is watched over by whom it belongs to: a supervisor that was replaced renews nothing', async () => {
      await make({ state: 'running', supervisor: supervisor(1, at(1)) });
      expect(await store.supervise(id, supervisor(1), at(10))).toMatchObject({ supervisor: { until: at(10) } });
      expect(await store.supervise(id, { pid: 1, startTime: 'another boot' }, at(20))).toBeUndefined();
      expect(await store.supervise(id, { pid: 9, startTime: '1' }, at(20))).toBeUndefined();
      await store.takeOver(id, 1, supervisor(2, at(30)));
      expect(await store.supervise(id, supervisor(1), at(40))).toBeUndefined();
      expect((await store.get(id))?.supervisor).toMatchObject({ pid: 2, until: at(30) });
    });

    it('keeps what the host saw first, and nothing after the end', async () => {
      await make({ state: 'running' });
      expect(await store.observe(id, { headSha: 'a' })).toBeDefined();
      expect(await store.observe(id, { headSha: 'b' })).toBeUndefined();
      expect((await store.get(id))?.observed).toEqual({ headSha: 'a' });
      const ended = 'attempt_fence000003';
      await store.create(anAttempt(ended, { completion: aCompletion('done') }));
      expect(await store.observe(ended, { headSha: 'b' })).toBeUndefined();
    });

    it('notes what was preserved or lost only of an attempt that was reclaimed', async () => {
      await make({ state: 'running' });
      expect(await store.preserve(id, 'refs/x')).toBeUndefined();
      expect(await store.loseWork(id, 'gone')).toBeUndefined();
      expect(await store.get(id)).not.toHaveProperty('reclaimed');
      await store.reclaim(id, at(5));
      expect(await store.preserve(id, 'refs/x')).toMatchObject({ reclaimed: { at: at(5), preservedRef: 'refs/x' } });
    });

    it('is ended once, and not before it is complete', async () => {
      await make({ state: 'running' });
      expect(await store.end(id)).toBeUndefined();
      await store.complete(id, aCompletion('done'));
      expect(await store.end(id)).toMatchObject({ state: 'ended', revision: 3 });
      expect(await store.end(id)).toBeUndefined();
      expect((await store.get(id))?.revision).toBe(3);
    });
  });

  describe('the run of a task', () => {
    let db: Database;
    beforeEach(async () => {
      db = await open();
    });
    afterEach(() => db.close());

    it('is one: who comes second learns who holds it, and gives nothing back that is not its own', async () => {
      const runs = await createActiveRunStore(db);
      const holders = await Promise.all(['a', 'b', 'c'].map((attempt) => runs.take(taskId, attempt)));
      const [holder] = holders;
      expect(new Set(holders).size).toBe(1);
      const loser = holder === 'a' ? 'b' : 'a';
      expect(await runs.release(taskId, loser)).toBe(0);
      expect(await runs.handOver(taskId, loser, 'next')).toBeUndefined();
      expect(await runs.holder(taskId)).toBe(holder);
      expect(await runs.handOver(taskId, holder!, 'next')).toBeDefined();
      // The one before it ends late.
      await runs.release(taskId, holder!);
      expect(await runs.holder(taskId)).toBe('next');
      expect(await runs.release(taskId, 'next')).toBe(1);
      expect(await runs.holder(taskId)).toBeUndefined();
    });

    it('is launched once under a key, and answered the same each time', async () => {
      const launches = await createLaunchStore(db);
      const claim = (attemptId: string) =>
        launches.claim('key', { taskId, attemptId, requestDigest: 'd', createdAt: at(0) });
      expect((await claim('first')).attemptId).toBe('first');
      expect((await claim('second')).attemptId).toBe('first');
      await launches.claim('other', { taskId, attemptId: 'other', requestDigest: 'd', createdAt: at(0) });
      expect(await launches.settle(taskId, 'key', running(at(1)))).toBeDefined();
      expect(await launches.settle(taskId, 'key', running(at(2)))).toBeUndefined();
      expect((await launches.find(taskId, 'key'))?.outcome).toEqual(running(at(1)));
      expect((await launches.find(taskId, 'other'))?.outcome).toBeUndefined();
    });
  });
}
