import { createPolicyStore } from '../../../stores/governance/policy-store';
import { createRateCountStore } from '../../../stores/system/rate-count-store';
import { type StoreHarness, uniqueName, useTwoConnections } from './harness';

/** What policies count and begin with, on every adapter. */
export function rateCountsContract(harness: StoreHarness): void {
  describe('counts of a window', () => {
    const stores = useTwoConnections(harness);
    const windowMs = 60_000;

    it('are exact, whichever process counts', async () => {
      const [one, other] = await Promise.all([createRateCountStore(stores.one), createRateCountStore(stores.other)]);
      const window = { key: [uniqueName()], windowMs: 31 * 86_400_000 };
      const numbers = await Promise.all(
        Array.from({ length: 20 }, (_each, index) => (index % 2 === 0 ? one : other).count(window)),
      );
      expect(await other.preview(window)).toBe(21);
      if (!harness.answersOwnResult) {
        return;
      }
      expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_each, index) => index + 1));
    });

    it('begin again with every window, and are apart for every key', async () => {
      let now = new Date('2026-11-22T00:00:59.999Z');
      const counts = await createRateCountStore(stores.one, () => now);
      const key = [uniqueName()];
      expect(await counts.count({ key, windowMs })).toBe(1);
      expect(await counts.count({ key, windowMs })).toBe(2);
      expect(await counts.count({ key: [...key, 'other'], windowMs })).toBe(1);
      now = new Date('2026-11-22T00:01:00.000Z');
      expect(await counts.preview({ key, windowMs })).toBe(1);
      expect(await counts.count({ key, windowMs })).toBe(1);
    });

    it('are of policies whose presets are made once, however many processes start', async () => {
      const databases = [stores.one, stores.other, stores.one, stores.other];
      const [first, second] = await Promise.all(databases.map((database) => createPolicyStore(database)));
      await first!.remove('permissive');
      await createPolicyStore(stores.other);
      expect((await second!.list()).map(({ id }) => id)).toEqual(['balanced', 'strict']);
    });
  });
}
