import { nothing, policiesOf } from '../../../domain/admission/capacity';
import { sampleRequest } from '../../../domain/admission/sample-request';
import type { Collection } from '../../../stores/port/collection';
import type { ReservationRecord } from '../../../stores/runs/admission/reservation-record';
import { createReservationStore, type ReservationStore } from '../../../stores/runs/admission/reservation-store';
import { defaultFeatures } from '../../../stores/settings/settings-store';
import { Crash, crash, type Interleaving, interleaving } from '../interleaving';
import type { OpenStore } from './open-store';

const { admission } = defaultFeatures({ BOARD_MAX_RUNS: 2, BOARD_RUN_TIMEOUT_MS: 60_000 });
const start = Date.parse('2026-01-01T00:00:00.000Z');
const at = (ms: number): Date => new Date(start + ms);
const leaseMs = 1_000;
const table = 'admission-reservations';
const ledgerTable = 'admission-ledger';
const one = { runs: 1, processes: 1, memoryMb: 512 };
const aMinute = 60_000;

/** Whatever is interrupted, and however late or often a call comes: capacity is counted once and released once. */
export function reservationFences(open: OpenStore): void {
  describe('reservations', () => {
    let db: Interleaving;
    let store: ReservationStore;
    let raw: Collection<ReservationRecord>;
    let attempts = 0;
    beforeEach(async () => {
      db = interleaving(await open());
      store = await createReservationStore(db);
      raw = await db.collection<ReservationRecord>({ name: table });
    });
    afterEach(async () => {
      expect(db.isThrough).toBe(true);
      await db.close();
    });

    const aRequest = (hostId: string | null = null) => {
      attempts += 1;
      return sampleRequest(`attempt_fence${String(attempts).padStart(7, '0')}`, { hostId, workspaceId: 'w' });
    };
    const reserve = (request: ReturnType<typeof aRequest>, ms = 0) =>
      store.reserve(request, policiesOf(admission, request), { now: at(ms), leaseMs });
    const used = async () => (await store.usage()).global ?? nothing;
    const stateOf = async (id: string) => (await store.get(id))?.state;
    const release = (id: string, ms = 10) => store.release(id, { reason: 'completed', evidence: 'done', now: at(ms) });

    it('counts one attempt once, however often it is reserved', async () => {
      const request = aRequest();
      const first = await reserve(request);
      expect(await reserve(request, 5)).toEqual(first);
      expect(await used()).toEqual(one);
      expect(await store.holders()).toEqual([request.attemptId]);
    });

    it('gives the same to two who reserve one attempt at once', async () => {
      const request = aRequest();
      db.before(table, 'insert', async () => {
        expect((await reserve(request, 5)).outcome).toBe('held');
      });
      const late = await reserve(request);
      expect(late).toMatchObject({ outcome: 'held', reservation: { generation: 1, heartbeatAt: at(5).toISOString() } });
      expect(await used()).toEqual(one);
    });

    it('takes its count back when the attempt was released while it reserved', async () => {
      const request = aRequest();
      db.before(table, 'insert', async () => {
        await reserve(request, 5);
        await release(request.attemptId);
      });
      expect(await reserve(request)).toEqual({ outcome: 'over' });
      expect(await used()).toEqual(nothing);
      expect(await store.holders()).toEqual([]);
    });

    it('leaves a younger generation alone that was made while it reserved', async () => {
      const request = aRequest();
      await reserve(request);
      await store.expire(at(2_000));
      db.before(table, 'findOneAndUpdate', async () => {
        await reserve(request, 3_000);
        await store.expire(at(5_000));
        expect((await reserve(request, 6_000)).outcome).toBe('held');
      });
      expect(await reserve(request, 2_500)).toMatchObject({ outcome: 'held', reservation: { generation: 3 } });
      expect(await used()).toEqual(one);
      expect(await store.get(request.attemptId)).toMatchObject({ generation: 3, revision: 5 });
    });

    it('starts over when its generation was made and has expired while it reserved', async () => {
      const request = aRequest();
      await reserve(request);
      await store.expire(at(2_000));
      db.before(table, 'findOneAndUpdate', async () => {
        expect((await reserve(request, 3_000)).outcome).toBe('held');
        expect(await store.expire(at(5_000))).toHaveLength(1);
      });
      expect(await reserve(request, 2_500)).toMatchObject({ outcome: 'held', reservation: { generation: 3 } });
      expect(await used()).toEqual(one);
    });

    it('makes an expired reservation again only while it is expired', async () => {
      const request = aRequest();
      await reserve(request);
      await store.expire(at(2_000));
      db.before(table, 'findOneAndUpdate', () => release(request.attemptId, 2_100));
      expect(await reserve(request, 2_200)).toEqual({ outcome: 'over' });
      expect(await stateOf(request.attemptId)).toBe('released');
      expect(await used()).toEqual(nothing);
    });

    it('counts nothing without its ledger', async () => {
      await (await db.collection({ name: ledgerTable })).deleteMany({ _id: 'ledger' });
      await expect(store.usage()).rejects.toThrow('missing from the stores');
    });

    it('blocks what does not fit and counts nothing of it', async () => {
      await reserve(aRequest());
      const [second, third] = [aRequest(), aRequest()];
      await reserve(second);
      expect(await reserve(third)).toMatchObject({ outcome: 'blocked', policies: [{ policy: 'global.runs' }] });
      expect((await used()).runs).toBe(2);
      await release(second.attemptId);
      expect((await reserve(third)).outcome).toBe('held');
    });

    it('has room for one only: of two who reserve it at once one is blocked', async () => {
      await reserve(aRequest());
      const late = aRequest();
      db.before(ledgerTable, 'findOneAndUpdate', async () => {
        expect((await reserve(aRequest())).outcome).toBe('held');
      });
      expect((await reserve(late)).outcome).toBe('blocked');
      expect((await used()).runs).toBe(2);
    });

    describe('released', () => {
      it('releases once, the first reason is final, and nothing is reserved any more', async () => {
        const [request, other] = [aRequest(), aRequest()];
        await reserve(request);
        await reserve(other);
        await store.release(request.attemptId, { reason: 'completed', evidence: 'first', now: at(10) });
        await store.release(request.attemptId, { reason: 'failed', evidence: 'second', now: at(20) });
        expect(await store.get(request.attemptId)).toMatchObject({
          state: 'released',
          revision: 2,
          endedAt: at(10).toISOString(),
          release: { reason: 'completed', evidence: 'first' },
        });
        expect(await used()).toEqual(one);
        expect(await reserve(request, 30)).toEqual({ outcome: 'over' });
        expect(await store.holders()).toEqual([other.attemptId]);
      });

      it('is finished by a repetition when the first call died before it came to the ledger', async () => {
        const request = aRequest();
        await reserve(request);
        db.after(table, 'findOneAndUpdate', crash);
        await expect(release(request.attemptId)).rejects.toThrow(Crash);
        expect(await used()).toEqual(one);
        await release(request.attemptId, 20);
        expect(await used()).toEqual(nothing);
      });

      it('changes nothing of what was never reserved', async () => {
        await reserve(aRequest());
        await release('attempt_neverReserved');
        expect(await used()).toEqual(one);
        expect(await store.get('attempt_neverReserved')).toBeUndefined();
      });

      it('stays so when it is given back, renewed, expired or committed late', async () => {
        const request = aRequest('h');
        await reserve(request);
        await release(request.attemptId);
        const ended = await store.get(request.attemptId);
        await store.releaseForRequeue(request.attemptId, at(20));
        expect(await store.renew(request.attemptId, at(30), leaseMs)).toBeUndefined();
        await store.renewHost('h', at(40), leaseMs);
        expect(await store.expire(at(aMinute))).toEqual([]);
        expect(await store.commit(request.attemptId, at(50))).toBeUndefined();
        expect(await store.get(request.attemptId)).toEqual(ended);
      });
    });

    it('is committed only while it is held, and only in the generation that was read', async () => {
      const request = aRequest();
      await reserve(request);
      db.before(table, 'findOneAndUpdate', () => release(request.attemptId));
      expect(await store.commit(request.attemptId, at(20))).toBeUndefined();
      expect((await store.get(request.attemptId))?.committed).toEqual(nothing);

      const again = aRequest();
      await reserve(again);
      db.before(table, 'findOneAndUpdate', async () => {
        await store.expire(at(2_000));
        await reserve(again, 2_100);
      });
      expect(await store.commit(again.attemptId, at(20))).toBeUndefined();
      expect((await store.commit(again.attemptId, at(2_200)))?.committed).toEqual(one);
    });

    it('is given back to wait once, and the one after it keeps its place', async () => {
      const request = aRequest();
      await reserve(request);
      await store.releaseForRequeue(request.attemptId, at(10));
      expect(await stateOf(request.attemptId)).toBe('expired');
      expect(await used()).toEqual(nothing);
      const expired = await store.get(request.attemptId);
      await store.releaseForRequeue(request.attemptId, at(20));
      expect(await store.get(request.attemptId)).toEqual(expired);
      await store.releaseForRequeue('attempt_neverReserved', at(20));

      db.before(ledgerTable, 'findOneAndUpdate', () => undefined);
      expect((await reserve(request, 30)).outcome).toBe('held');
      expect(await used()).toEqual(one);
    });

    describe('expiry', () => {
      it('spares what is renewed at that moment, and what was released', async () => {
        const [renewed, gone, due] = [aRequest(), aRequest('h'), aRequest()];
        await reserve(renewed);
        await reserve(gone);
        await raw.findOneAndUpdate({ _id: gone.attemptId }, { $set: { leaseExpiresAt: at(500).toISOString() } });
        db.after(table, 'find', async () => {
          await store.renew(renewed.attemptId, at(1_500), leaseMs);
          await release(gone.attemptId, 1_500);
        });
        expect(await store.expire(at(2_000))).toEqual([]);
        expect([await stateOf(renewed.attemptId), await stateOf(gone.attemptId)]).toEqual(['active', 'released']);
        expect(await used()).toEqual(one);

        await reserve(due, 1_500);
        const expired = await store.expire(at(2_501));
        expect(expired.map(({ _id }) => _id).sort()).toEqual([renewed.attemptId, due.attemptId].sort());
        expect(await used()).toEqual(nothing);
        expect(await store.expire(at(2_600))).toEqual([]);
      });

      it('ends nothing whose lease still runs', async () => {
        await reserve(aRequest());
        expect(await store.expire(at(leaseMs))).toEqual([]);
        expect(await used()).toEqual(one);
      });
    });

    it('renews what is held on the host that reports it, and nothing else', async () => {
      const [here, nowhere] = [aRequest('here'), aRequest()];
      await reserve(here);
      await reserve(nowhere);
      expect(await store.renewHost('here', at(500), leaseMs)).toBe(1);
      expect((await store.get(nowhere.attemptId))?.leaseExpiresAt).toBe(at(1_000).toISOString());
      expect((await store.get(here.attemptId))?.leaseExpiresAt).toBe(at(1_500).toISOString());
      expect(await store.renewHost(null, at(600), leaseMs)).toBe(1);
      expect((await store.get(nowhere.attemptId))?.leaseExpiresAt).toBe(at(1_600).toISOString());
    });

    describe('repair', () => {
      /** A holder of a reservation that ended while its process did not come to the ledger. */
      async function orphan(end: (id: string) => Promise<unknown>): Promise<string> {
        const request = aRequest();
        await reserve(request);
        db.after(table, 'findOneAndUpdate', crash);
        await expect(end(request.attemptId)).rejects.toThrow(Crash);
        return request.attemptId;
      }

      it('clears the holder of a reservation that was released or has expired, at once', async () => {
        await orphan((id) => release(id));
        await orphan((id) => store.releaseForRequeue(id, at(10)));
        const standing = aRequest();
        expect((await reserve(standing)).outcome).toBe('blocked');
        expect(await store.repair(at(20))).toBe(2);
        expect(await used()).toEqual(nothing);
        expect(await store.repair(at(30))).toBe(0);
        expect((await reserve(standing, 40)).outcome).toBe('held');
        expect(await store.repair(at(aMinute * 2))).toBe(0);
        expect(await used()).toEqual(one);
      });

      it('clears a holder whose reservation was never written after a minute, and not before', async () => {
        const request = aRequest();
        db.before(table, 'insert', crash);
        await expect(reserve(request)).rejects.toThrow(Crash);
        expect(await used()).toEqual(one);
        expect(await store.repair(at(aMinute - 1))).toBe(0);
        expect(await store.repair(at(aMinute))).toBe(1);
        expect(await used()).toEqual(nothing);
        expect(await store.get(request.attemptId)).toMatchObject({ state: 'expired', generation: 1, taskId: '' });
        expect(await reserve(request, aMinute + 1)).toMatchObject({
          outcome: 'held',
          reservation: { generation: 2, taskId: request.taskId },
        });
      });

      it('leaves a late writer its place when that comes first', async () => {
        const request = aRequest();
        db.before(table, 'insert', async () => {
          // The writer sleeps for longer than a minute here; the repair finds its holder, and the writer wakes.
          db.before(table, 'insert', async () => {
            expect((await reserve(request, aMinute)).outcome).toBe('held');
          });
          expect(await store.repair(at(aMinute))).toBe(0);
        });
        expect((await reserve(request)).outcome).toBe('held');
        expect(await used()).toEqual(one);
        expect(await stateOf(request.attemptId)).toBe('active');
      });

      it('makes a writer that wakes after it start over', async () => {
        const request = aRequest();
        db.before(table, 'insert', async () => {
          expect(await store.repair(at(aMinute))).toBe(1);
        });
        expect(await reserve(request)).toMatchObject({ outcome: 'held', reservation: { generation: 2 } });
        expect(await used()).toEqual(one);
      });

      it('clears what an earlier generation left, and spares the one that is being written', async () => {
        const request = aRequest();
        await reserve(request);
        await store.releaseForRequeue(request.attemptId, at(10));
        await store.repair(at(15));
        db.before(table, 'findOneAndUpdate', crash);
        await expect(reserve(request, 20)).rejects.toThrow(Crash);
        // Generation 2 is counted and not written: its document is that of generation 1, which has ended.
        expect(await store.repair(at(30))).toBe(0);
        expect(await store.repair(at(aMinute + 20))).toBe(1);
        expect(await used()).toEqual(nothing);
        expect(await reserve(request, aMinute + 30)).toMatchObject({ outcome: 'held', reservation: { generation: 3 } });
        expect(await used()).toEqual(one);
      });
    });

    it('takes over the place that an earlier generation has left in the ledger', async () => {
      const request = aRequest();
      await reserve(request);
      db.after(table, 'findOneAndUpdate', crash);
      await expect(store.releaseForRequeue(request.attemptId, at(10))).rejects.toThrow(Crash);
      await reserve(aRequest());
      expect(await reserve(request, 20)).toMatchObject({ outcome: 'held', reservation: { generation: 2 } });
      expect((await used()).runs).toBe(2);
    });

    it('is held by the later generation that others made while it was reserved', async () => {
      const request = aRequest();
      db.after(table, 'get', async () => {
        await reserve(request);
        await store.releaseForRequeue(request.attemptId, at(10));
        await reserve(request, 20);
      });
      expect(await reserve(request, 30)).toMatchObject({ outcome: 'held', reservation: { generation: 2 } });
      expect(await used()).toEqual(one);
    });
  });
}
