import { nothing } from '../../../domain/admission/capacity';
import { sampleRequest } from '../../../domain/admission/sample-request';
import { createCapacityLedger } from '../../../stores/runs/admission/capacity-ledger';
import { type Interleaving, interleaving } from '../interleaving';
import type { OpenStore } from './open-store';

const start = Date.parse('2026-01-01T00:00:00.000Z');
const at = (ms: number): Date => new Date(start + ms);
const ledgerTable = 'admission-ledger';
const one = { runs: 1, processes: 1, memoryMb: 512 };

/** What capacity is counted in: one count for each attempt, of its latest generation. */
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

    const aRequest = (n = 0) =>
      sampleRequest(`attempt_fence${String(n).padStart(7, '0')}`, { hostId: null, workspaceId: 'w' });
    const usage = async () => (await ledger.read()).usage;
    const used = async () => (await usage()).global ?? nothing;

    it('counts nothing for a generation that is over already', async () => {
      const request = aRequest();
      expect(await ledger.hold(request, [], { generation: 2, at: at(0).toISOString() })).toEqual({ held: true });
      expect(await ledger.hold(request, [], { generation: 2, at: at(5).toISOString() })).toEqual({ held: true });
      expect(await ledger.hold(request, [], { generation: 1, at: at(9).toISOString() })).toMatchObject({
        held: false,
        blocked: [],
      });
      expect(await used()).toEqual(one);
      expect((await ledger.read()).holders[request.attemptId]).toMatchObject({
        generation: 2,
        at: at(0).toISOString(),
      });
    });

    it('forgets scopes without usage, and none that is used again at that moment', async () => {
      const made = Array.from({ length: 80 }, (_, n) => aRequest(n));
      for (const request of made) {
        await ledger.hold(request, [], { generation: 1, at: at(0).toISOString() });
      }
      const last = made.pop()!;
      const again = made.at(-1)!;
      const keysOf = async (id: string) => (await ledger.read()).holders[id]!.keys;
      const releaseFor = async ({ attemptId }: typeof last) =>
        ledger.release(attemptId, { generation: 1, requested: one, keys: await keysOf(attemptId) });
      for (const request of made) {
        await releaseFor(request);
      }
      const keys = await keysOf(last.attemptId);
      // Between the release and what it would forget, one of those scopes is used.
      db.after(ledgerTable, 'findOneAndUpdate', () =>
        ledger.hold(again, [], { generation: 1, at: at(1).toISOString() }),
      );
      await ledger.release(last.attemptId, { generation: 1, requested: one, keys });
      expect(await used()).toEqual(one);
      for (const key of await keysOf(again.attemptId)) {
        expect((await usage())[key]?.runs).toBe(1);
      }
      await releaseFor(again);
      expect(Object.keys(await usage()).length).toBeLessThan(80);
    });
  });
}
