import { nothing } from '../../../domain/admission/capacity';
import { createCapacityLedger, entryOf, idOf, type OpenCount } from '../../../stores/runs/admission/capacity-ledger';
import { type Interleaving, interleaving } from '../interleaving';
import type { OpenStore } from './open-store';

const at = new Date('2026-01-01T00:00:00.000Z').toISOString();
const ledgerTable = 'admission-ledger';
const one = { runs: 1, processes: 1, memoryMb: 512 };

/** What capacity is counted in: one count for each generation of a reservation, taken back once. */
export function ledgerFences(open: OpenStore): void {
  describe('the capacity ledger', () => {
    let db: Interleaving;
    let ledger: Awaited<ReturnType<typeof createCapacityLedger>>;
    beforeEach(async () => {
      db = interleaving(await open());
      ledger = await createCapacityLedger(db);
    });
    afterEach(async () => {
      expect(db.isThrough).toBe(true);
      await db.close();
    });

    const entry = entryOf('attempt_a', 1);
    const wanted = (n = 0): OpenCount => ({ at, requested: one, keys: ['global', `host_${n}`] });
    const usage = async () => (await ledger.read()).usage;
    const used = async () => (await usage()).global ?? nothing;
    const count = (name: string, n = 0, epoch = 0) => ledger.count(name, wanted(n), { policies: [], epoch });

    it('names a count by the reservation and its generation', () => {
      expect(idOf(entryOf('attempt_a:b', 12))).toEqual({ id: 'attempt_a:b', generation: 12 });
    });

    it('counts once what is counted again, and returns the count that there is', async () => {
      expect(await count(entry, 1)).toMatchObject({ outcome: 'counted', count: wanted(1) });
      expect(await count(entry, 2)).toMatchObject({ outcome: 'counted', count: wanted(1) });
      expect(await used()).toEqual(one);
    });

    it('takes a count back once, and counts nothing again that was released', async () => {
      await count(entry);
      expect(await ledger.release(entry, wanted(), 0)).toMatchObject({ counting: {}, released: { [entry]: true } });
      expect(await ledger.release(entry, wanted(), 0)).toBeUndefined();
      expect(await count(entry)).toEqual({ outcome: 'changed' });
      expect(await used()).toEqual(nothing);
    });

    it('changes nothing for who has read it before entries were forgotten', async () => {
      await count(entry);
      await ledger.release(entry, wanted(), 0);
      expect(await ledger.forget({ epoch: 0 }, { counting: [], released: [entry] })).toMatchObject({
        released: {},
        epoch: 1,
      });
      expect(await ledger.forget({ epoch: 0 }, { counting: [], released: [] })).toBeUndefined();
      expect(await ledger.release(entry, wanted(), 0)).toBeUndefined();
      expect(await count(entry)).toEqual({ outcome: 'changed' });
      expect(await used()).toEqual(nothing);
    });

    it('takes back a count without a reservation once, in the scopes that it is in', async () => {
      await count(entry, 1);
      await count(entryOf('attempt_b', 1), 1);
      expect([await ledger.retract(entry), await ledger.retract(entry)]).toEqual([true, false]);
      expect(await usage()).toMatchObject({ global: one, host_1: one });
    });

    it('forgets scopes without usage, and none that is used again at that moment', async () => {
      const names = Array.from({ length: 80 }, (_, n) => entryOf(`attempt_${n}`, 1));
      for (const [n, name] of names.entries()) {
        await count(name, n);
      }
      for (const [n, name] of names.slice(0, 64).entries()) {
        await ledger.release(name, wanted(n), 0);
      }
      expect(Object.keys(await usage())).toHaveLength(81);
      // Between the release and what it would forget, one of those scopes is used.
      db.after(ledgerTable, 'findOneAndUpdate', () => count(entryOf('attempt_0', 2), 0));
      await ledger.release(names[64]!, wanted(64), 0);
      expect(await usage()).toMatchObject({ host_0: one, host_79: one });

      await ledger.release(names[65]!, wanted(65), 0);
      expect(Object.keys(await usage())).toHaveLength(81 - 65);
      expect(await usage()).toMatchObject({ host_0: one, host_79: one, global: { runs: 15 } });
    });
  });
}
