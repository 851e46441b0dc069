import { nothing, policiesOf } from '../../../domain/admission/capacity';
import { sampleRequest } from '../../../domain/admission/sample-request';
import type { Collection } from '../../../stores/port/collection';
import type { Ledger } from '../../../stores/runs/admission/capacity-ledger';
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

/** What the ledger forgets once reservations have it: nothing that comes late, or again, is counted or released twice. */
export function settledCountFences(open: OpenStore): void {
  describe('settled counts', () => {
    let db: Interleaving;
    let store: ReservationStore;
    let raw: Collection<ReservationRecord>;
    let ledgers: Collection<Ledger>;
    let attempts = 0;
    beforeEach(async () => {
      db = interleaving(await open());
      store = await createReservationStore(db);
      raw = await db.collection<ReservationRecord>({ name: table });
      ledgers = await db.collection<Ledger>({ name: ledgerTable });
    });
    afterEach(async () => {
      expect(db.isThrough).toBe(true);
      await db.close();
    });

    const aRequest = (rootTaskId?: string) => {
      attempts += 1;
      const id = `attempt_settled${String(attempts).padStart(5, '0')}`;
      return sampleRequest(id, rootTaskId === undefined ? {} : { rootTaskId });
    };
    const reserve = (request: ReturnType<typeof aRequest>, ms = 0) =>
      store.reserve(request, policiesOf(admission, request), { now: at(ms), leaseMs });
    const release = (id: string) => store.release(id, { reason: 'completed', evidence: 'done', now: at(10) });
    const used = async () => (await store.usage()).global ?? nothing;
    /** How much the ledger names besides what is used. */
    async function named(): Promise<number> {
      const ledger = await ledgers.get('ledger');
      return [ledger!.counting, ledger!.released, ledger!.holders].flatMap((part) => Object.keys(part)).length;
    }

    it('are named by the ledger no more, whatever the number of runs', async () => {
      const roomy = policiesOf(
        defaultFeatures({ BOARD_MAX_RUNS: 100, BOARD_RUN_TIMEOUT_MS: 60_000 }).admission,
        aRequest(),
      );
      const requests = Array.from({ length: 100 }, () => aRequest());
      for (const request of requests) {
        await store.reserve(request, roomy, { now: at(0), leaseMs });
        expect(await named()).toBeLessThanOrEqual(33);
      }
      expect((await used()).runs).toBe(100);
      expect((await store.reserve(aRequest(), roomy, { now: at(0), leaseMs })).outcome).toBe('blocked');
      expect(await store.holders()).toHaveLength(100);
      expect(Object.keys(await store.usage())).toHaveLength(3);
      for (const { attemptId } of requests) {
        await release(attemptId);
        expect(await named()).toBeLessThanOrEqual(33);
      }
      expect([await used(), await store.holders(), await store.activeRuns()]).toEqual([nothing, [], 0]);
      expect(await store.repair(at(20))).toBe(0);
      expect(await named()).toBe(0);
      expect((await raw.get(requests[0]!.attemptId))?.counted).toBeUndefined();
    });

    it('are released once by one that comes after it was released and that was forgotten', async () => {
      const [request, other] = [aRequest(), aRequest()];
      await reserve(request);
      await reserve(other);
      db.before(ledgerTable, 'findOneAndUpdate', async () => {
        await release(request.attemptId);
        await store.repair(at(20));
        expect(await named()).toBe(0);
      });
      await release(request.attemptId);
      expect(await used()).toEqual(one);
    });

    it.each([false, true])(
      'are made once by one that comes after all of the run was over, forgotten: %s',
      async (forgotten) => {
        const request = aRequest();
        await reserve(aRequest());
        db.before(ledgerTable, 'findOneAndUpdate', async () => {
          await reserve(request);
          await release(request.attemptId);
          if (forgotten) {
            await store.repair(at(20));
          }
        });
        expect(await reserve(request)).toEqual({ outcome: 'over' });
        expect(await used()).toEqual(one);
      },
    );

    it('are released for the earlier generation before the next one is counted', async () => {
      const request = aRequest();
      await reserve(request);
      await store.repair(at(0));
      db.after(table, 'findOneAndUpdate', crash);
      await expect(store.releaseForRequeue(request.attemptId, at(10))).rejects.toThrow(Crash);
      await reserve(aRequest());
      expect(await reserve(request, 20)).toMatchObject({ outcome: 'held', reservation: { generation: 2 } });
      expect((await used()).runs).toBe(2);
      await release(request.attemptId);
      expect(await used()).toEqual(one);
    });

    it('are released whole when the attempt was reserved while it was released', async () => {
      const request = aRequest();
      db.after(table, 'findOneAndUpdate', async () => {
        expect((await reserve(request)).outcome).toBe('held');
      });
      await release(request.attemptId);
      expect((await store.get(request.attemptId))?.state).toBe('released');
      expect(await used()).toEqual(nothing);
    });

    it.each([
      ['before the count leaves its reservation', () => db.before(table, 'updateMany', crash)],
      ['before it is forgotten', () => db.before(ledgerTable, 'findOneAndUpdate', crash)],
      ['after it is forgotten', () => db.after(ledgerTable, 'findOneAndUpdate', crash)],
    ])('survive a crash of the settlement %s', async (_when, interrupt) => {
      const [ended, active] = [aRequest(), aRequest()];
      await reserve(ended);
      await reserve(active);
      await release(ended.attemptId);
      interrupt();
      await expect(store.repair(at(20))).rejects.toThrow(Crash);
      await release(ended.attemptId);
      expect(await used()).toEqual(one);
      expect(await store.repair(at(30))).toBe(0);
      expect([await used(), await named()]).toEqual([one, 0]);
      await release(active.attemptId);
      expect(await used()).toEqual(nothing);
    });

    it('are not taken from a generation whose writer is at work, until a minute has passed', async () => {
      const request = aRequest();
      await reserve(request);
      await store.releaseForRequeue(request.attemptId, at(10));
      await store.repair(at(15));
      db.before(table, 'findOneAndUpdate', async () => {
        expect(await store.repair(at(30))).toBe(0);
      });
      expect(await reserve(request, 20)).toMatchObject({ outcome: 'held', reservation: { generation: 2 } });
      expect(await used()).toEqual(one);
      await store.releaseForRequeue(request.attemptId, at(40));
      await store.repair(at(45));

      db.before(table, 'findOneAndUpdate', async () => {
        expect(await store.repair(at(120_000))).toBe(1);
      });
      // It starts over: what it had counted is cleared.
      expect(await reserve(request, 50)).toMatchObject({ outcome: 'held', reservation: { generation: 4 } });
      expect(await used()).toEqual(one);
    });

    it('of a root task include its runs from before it had a ceiling', async () => {
      const limits = { ...admission.limits, rootTask: { runs: 2, processes: null, memoryMb: null } };
      const narrow = { ...admission, limits: { ...limits, global: { runs: null, processes: null, memoryMb: null } } };
      const [first, second, third, fourth] = Array.from({ length: 4 }, () => aRequest('root'));
      const under = (request: typeof first) =>
        store.reserve(request!, policiesOf(narrow, request!), { now: at(0), leaseMs });
      await reserve(first!);
      expect((await under(second)).outcome).toBe('held');
      expect(await under(third)).toMatchObject({
        outcome: 'blocked',
        policies: [{ policy: 'root-task.runs', limit: 2 }],
      });
      await release(first!.attemptId);
      expect((await under(third)).outcome).toBe('held');
      expect((await under(fourth)).outcome).toBe('blocked');
      expect((await store.reserve(aRequest(), policiesOf(narrow, aRequest()), { now: at(0), leaseMs })).outcome).toBe(
        'held',
      );
    });
  });
}
