import { nothing, policiesOf, scopesOf } from '../../../domain/admission/capacity';
import { sampleRequest } from '../../../domain/admission/sample-request';
import type { Collection } from '../../../stores/port/collection';
import type { Holder } from '../../../stores/runs/admission/capacity-ledger';
import { createReservationStore, type ReservationStore } from '../../../stores/runs/admission/reservation-store';
import { defaultFeatures } from '../../../stores/settings/settings-store';
import { type EarlierReservations, earlierReservations } from '../../support/stores/earlier-reservations';
import { type Interleaving, interleaving } from '../interleaving';
import type { OpenStore } from './open-store';

interface EarlierLedger {
  _id: string;
  usage: Record<string, object>;
  holders: Record<string, Holder>;
}

const { admission } = defaultFeatures({ BOARD_MAX_RUNS: 2, BOARD_RUN_TIMEOUT_MS: 60_000 });
const start = Date.parse('2026-01-01T00:00:00.000Z');
const at = (ms: number): Date => new Date(start + ms);
const leaseMs = 1_000;
const one = { runs: 1, processes: 1, memoryMb: 512 };
const aMinute = 60_000;

/** What version 0.4.0 has counted, and what its processes do while others are of this version already. */
export function earlierLedgerFences(open: OpenStore): void {
  describe('the ledger of an earlier version', () => {
    let db: Interleaving;
    let earlier: EarlierReservations;
    let store: ReservationStore;
    let ledgers: Collection<EarlierLedger>;
    let attempts = 0;
    const aRequest = () => {
      attempts += 1;
      return sampleRequest(`attempt_earlier${String(attempts).padStart(5, '0')}`, { hostId: 'h' });
    };
    type Request = ReturnType<typeof aRequest>;
    const lease = { now: at(0), leaseMs };
    const before = (request: Request) => earlier.reserve(request, policiesOf(admission, request), lease);
    const reserve = async (request: Request) =>
      (await store.reserve(request, policiesOf(admission, request), lease)).outcome;
    const release = ({ attemptId }: Request) =>
      store.release(attemptId, { reason: 'completed', evidence: 'done', now: at(10) });
    const used = async () => (await store.usage()).global ?? nothing;
    let held: Request;

    beforeEach(async () => {
      db = interleaving(await open());
      earlier = await earlierReservations(db);
      ledgers = await db.collection<EarlierLedger>({ name: 'admission-ledger' });
      held = aRequest();
      expect(await before(held)).toBe('held');
      store = await createReservationStore(db);
    });
    afterEach(async () => {
      expect(db.isThrough).toBe(true);
      await db.close();
    });

    /** A holder whose process died before it wrote the reservation. */
    async function orphan(): Promise<Request> {
      const request = aRequest();
      const keys = scopesOf(request).map(({ key }) => key);
      const counted = keys.flatMap((key) => [
        [`usage.${key}.runs`, 1] as const,
        [`usage.${key}.processes`, 1] as const,
        [`usage.${key}.memoryMb`, 512] as const,
      ]);
      await ledgers.findOneAndUpdate(
        { _id: 'ledger' },
        {
          $set: { [`holders.${request.attemptId}`]: { generation: 1, at: at(0).toISOString(), requested: one, keys } },
          $inc: Object.fromEntries(counted),
        },
      );
      return request;
    }

    it('is opened with what it counts, which is released once', async () => {
      expect([await used(), await store.holders()]).toEqual([one, [held.attemptId]]);
      expect(await store.repair(at(aMinute * 2))).toBe(0);
      const [second, third] = [aRequest(), aRequest()];
      expect([await reserve(held), await reserve(second), await reserve(third)]).toEqual(['held', 'held', 'blocked']);
      await release(held);
      await release(held);
      expect([await used(), await store.holders()]).toEqual([one, [second.attemptId]]);
      expect([await reserve(held), await reserve(third)]).toEqual(['over', 'held']);
      expect(await store.repair(at(aMinute * 2))).toBe(0);
    });

    it('has room again for what expires there, and for what is requeued', async () => {
      await store.expire(at(2_000));
      expect(await used()).toEqual(nothing);
      expect(await reserve(held)).toBe('held');
      expect((await ledgers.get('ledger'))?.holders).toEqual({});
      await store.releaseForRequeue(held.attemptId, at(20));
      expect(await used()).toEqual(nothing);
    });

    it('has a holder without a reservation, which a repetition continues', async () => {
      const request = await orphan();
      expect(await reserve(request)).toBe('held');
      expect((await used()).runs).toBe(2);
      await release(request);
      expect([await used(), await store.repair(at(aMinute * 2))]).toEqual([one, 0]);
    });

    it('has a holder without a reservation, which a repair clears after a minute', async () => {
      const request = await orphan();
      expect(await store.repair(at(aMinute - 1))).toBe(0);
      expect(await store.repair(at(aMinute))).toBe(1);
      expect(await used()).toEqual(one);
      expect((await store.get(request.attemptId))?.state).toBe('expired');
    });

    it('is one with this version: neither admits more than there is room for', async () => {
      const [second, third] = [aRequest(), aRequest()];
      expect([await reserve(second), await before(third), await reserve(third)]).toEqual([
        'held',
        'blocked',
        'blocked',
      ]);
      await release(held);
      expect([await before(third), await reserve(aRequest())]).toEqual(['held', 'blocked']);
      expect((await used()).runs).toBe(2);
    });

    it('gives back by a repair what a process of that version has released or requeued', async () => {
      const second = aRequest();
      await reserve(second);
      await earlier.release(second.attemptId, at(10));
      await release(held);
      expect((await used()).runs).toBe(1);
      expect(await store.repair(at(20))).toBe(1);
      expect([await used(), await store.holders()]).toEqual([nothing, []]);

      const third = aRequest();
      await reserve(third);
      await earlier.releaseForRequeue(third.attemptId, at(30));
      expect(await before(third)).toBe('held');
      expect((await used()).runs).toBe(2);
      // Counted for both generations until then.
      expect(await store.repair(at(40))).toBe(1);
      expect(await used()).toEqual(one);
      await release(third);
      expect([await used(), await store.repair(at(50))]).toEqual([nothing, 0]);
    });

    it('counts one attempt once that both versions reserve at one moment', async () => {
      const request = aRequest();
      db.before('admission-reservations', 'insert', () => before(request));
      await release(held);
      expect(await reserve(request)).toBe('held');
      expect(await used()).toEqual(one);

      const other = aRequest();
      await release(request);
      db.before('admission-reservations', 'insert', () => reserve(other));
      expect(await before(other)).toBe('held');
      expect((await used()).runs).toBeLessThanOrEqual(2);
      await store.repair(at(20));
      expect(await used()).toEqual(one);
    });
  });
}
