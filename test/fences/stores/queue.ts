import type { SelectionEvidence } from '../../../contracts/runs/admission';
import { sampleRequest } from '../../../domain/admission/sample-request';
import type { Collection, Database } from '../../../stores/port/collection';
import { createQueueStore, type QueueRecord, type QueueStore } from '../../../stores/runs/admission/queue-store';
import { at } from '../../support/factories/records';
import { Crash, crash, interleaving } from '../interleaving';
import type { OpenStore } from './open-store';

const id = 'attempt_fence000001';
const selection: SelectionEvidence = {
  evaluatedAt: at(1),
  effectivePriority: 1,
  promotions: 0,
  workspaceTurn: 0,
  position: 1,
};
const asked = (actor: string) => ({ keyHash: actor, reason: `by ${actor}`, actor, at: at(9) });
const outcome = (code: string) => ({ code, reason: code, at: at(20) });
const states: QueueRecord['state'][] = ['queued', 'requeued', 'leased', 'dispatched', 'terminal'];
const waiting: QueueRecord['state'][] = ['queued', 'requeued'];
const open_: QueueRecord['state'][] = ['queued', 'requeued', 'leased'];

/** A queued launch is taken once, and what was cancelled is neither leased nor dispatched, in whatever order they come. */
export function queueFences(open: OpenStore): void {
  describe('queue entries', () => {
    let db: Database;
    let queue: QueueStore;
    let raw: Collection<QueueRecord>;
    beforeEach(async () => {
      db = await open();
      queue = await createQueueStore(db);
      raw = await db.collection<QueueRecord>({ name: 'admission-entries' });
      for (const attemptId of [id, 'attempt_fence000002']) {
        const request = sampleRequest(attemptId);
        await queue.enqueue({ ...request, enqueuedAt: at(0), limitingKey: 'global', limitingPolicies: [] });
      }
    });
    afterEach(async () => {
      expect(await queue.get('attempt_fence000002')).toMatchObject({ state: 'queued', revision: 1 });
      await db.close();
    });

    const set = (fields: Partial<QueueRecord>) => raw.findOneAndUpdate({ _id: id }, { $set: fields });
    const lease = () => queue.lease(id, selection, at(30));

    const steps: [string, QueueRecord['state'][], () => Promise<QueueRecord | undefined>][] = [
      ['lease', waiting, lease],
      ['limit', waiting, () => queue.limit(id, 'host', [])],
      ['requeue', ['leased'], () => queue.requeue(id, at(40), 0)],
      ['putBack', ['leased'], () => queue.putBack(id)],
      ['dispatched', ['leased'], () => queue.dispatched(id, at(10))],
      ['end', open_, () => queue.end(id, outcome('X'))],
      ['cancel', open_, () => queue.cancel(id, asked('ada'))],
      ['extendLease', ['leased'], () => queue.extendLease(id, at(30), at(60))],
    ];
    describe.each(steps)('%s', (name, from, step) => {
      it.each(states)('from %s', async (state) => {
        const before = await set({ state, leaseExpiresAt: at(30) });
        const changed = await step();
        if (!from.includes(state)) {
          expect([changed, await queue.get(id)]).toEqual([undefined, before]);
        } else {
          expect(changed).toMatchObject({ revision: name === 'extendLease' ? 1 : 2 });
        }
      });
    });

    it('is enqueued once and keeps its place', async () => {
      const request = sampleRequest(id, { priority: 9 });
      await queue.enqueue({ ...request, enqueuedAt: at(99), limitingKey: null, limitingPolicies: [] });
      expect(await queue.get(id)).toMatchObject({ enqueuedAt: at(0), priority: 1, revision: 1 });
    });

    it('is not taken for enqueued when the stores fail', async () => {
      const failing = interleaving(db);
      const broken = await createQueueStore(failing);
      failing.before('admission-entries', 'insert', crash);
      const entry = { enqueuedAt: at(0), limitingKey: null, limitingPolicies: [] };
      await expect(broken.enqueue({ ...sampleRequest('attempt_fence000003'), ...entry })).rejects.toThrow(Crash);
      expect(await queue.get('attempt_fence000003')).toBeUndefined();
    });

    it('counts as waiting until it is over', async () => {
      await raw.findOneAndUpdate({ _id: 'attempt_fence000002' }, { $set: { state: 'terminal' } });
      expect(await queue.isEmpty()).toBe(false);
      await queue.end(id, outcome('X'));
      expect(await queue.isEmpty()).toBe(true);
      await raw.findOneAndUpdate({ _id: 'attempt_fence000002' }, { $set: { state: 'queued' } });
    });

    it('is leased by one of two schedulers', async () => {
      const answers = await Promise.all([lease(), lease(), lease()]);
      expect(answers.filter((entry) => entry !== undefined)).toHaveLength(1);
    });

    it('is not leased any more once its end was asked for', async () => {
      expect(await queue.cancel(id, asked('ada'))).toMatchObject({ cancelRequestedAt: at(9) });
      expect(await lease()).toBeUndefined();
      expect(await queue.get(id)).toMatchObject({ state: 'queued' });
      expect(await queue.cancel(id, asked('bob'))).toBeUndefined();
      expect((await queue.get(id))?.cancel?.actor).toBe('ada');
    });

    it('is not dispatched when its end was asked for while it was leased', async () => {
      await lease();
      await queue.cancel(id, asked('ada'));
      expect(await queue.dispatched(id, at(10))).toBeUndefined();
      expect((await queue.get(id))?.state).toBe('leased');
      expect((await queue.toEnd(at(10), { limit: 10 })).items.map(({ _id }) => _id)).toEqual([id]);
      expect(await queue.end(id, outcome('QUEUE_CANCELLED'))).not.toHaveProperty('cancelRequestedAt');
      expect(await queue.toEnd(at(10), { limit: 10 })).toMatchObject({ items: [] });
    });

    it('is dispatched once, and nothing ends, cancels or requeues what was', async () => {
      await lease();
      const answers = await Promise.all([queue.dispatched(id, at(10)), queue.dispatched(id, at(11))]);
      expect(answers.filter((entry) => entry !== undefined)).toHaveLength(1);
      expect(await queue.cancel(id, asked('ada'))).toBeUndefined();
      expect(await queue.end(id, outcome('X'))).toBeUndefined();
      expect(await queue.putBack(id)).toBeUndefined();
      expect(await queue.stranded(at(99), { limit: 10 })).toMatchObject({ items: [] });
    });

    it('keeps its first outcome', async () => {
      await queue.end(id, outcome('FIRST'));
      await queue.end(id, outcome('SECOND'));
      expect((await queue.get(id))?.outcome?.code).toBe('FIRST');
    });

    it('is requeued with a pause once for each time it was handed out', async () => {
      await lease();
      expect(await queue.requeue(id, at(40), 0)).toMatchObject({ state: 'requeued', retries: 1 });
      await lease();
      // A scheduler that slept since it read the entry knows nothing of the second time.
      expect(await queue.requeue(id, at(50), 0)).toBeUndefined();
      expect(await queue.get(id)).toMatchObject({ state: 'leased', retries: 1, notBefore: at(40) });
    });

    it('has its lease extended from what was read only', async () => {
      await lease();
      expect(await queue.extendLease(id, at(29), at(60))).toBeUndefined();
      expect(await queue.extendLease(id, at(30), at(60))).toMatchObject({ leaseExpiresAt: at(60) });
      expect(await queue.extendLease(id, at(30), at(90))).toBeUndefined();
    });
  });
}
