import { createWorkProductStore, measured, type WorkProductRecord } from '../../../../stores/tasks/work-product-store';
import { type StoreHarness, uniqueName, useTwoConnections } from '../harness';

/** What interrupted writers of work products leave, on every adapter. */
export function workProductsContract(harness: StoreHarness): void {
  describe('work products', () => {
    const stores = useTwoConnections(harness);
    const clock = { offsetMs: 0 };
    const open = () =>
      createWorkProductStore(stores.one, { restMs: 60_000 }, () => new Date(Date.now() + clock.offsetMs));
    beforeEach(() => {
      clock.offsetMs = 0;
    });

    const at = '2026-01-01T00:00:00.000Z';
    const aVersion = (version: number, content: string) => ({
      ...{ id: `productversion_${uniqueName()}`, version, format: 'text' as const, ...measured(content) },
      ...{ createdAt: at, createdBy: 'user:test' },
    });
    const aProduct = (content: string): WorkProductRecord => ({
      ...{ _id: `product_${uniqueName()}`, taskId: `task_${uniqueName()}`, title: 'Stored', kind: 'report' },
      versions: [aVersion(1, content)],
      ...{ revision: 1, createdAt: at, createdBy: 'user:test', updatedAt: at, updatedBy: 'user:test' },
    });
    const next = (record: WorkProductRecord, content: string): WorkProductRecord => ({
      ...record,
      versions: [...record.versions, aVersion(record.versions.length + 1, content)],
      revision: record.revision + 1,
    });
    const newest = ({ versions }: WorkProductRecord) => versions.at(-1)!.id;

    it('are replaced by the first of two writers, and stay readable', async () => {
      const store = await open();
      const record = aProduct('one');
      await store.add(record, 'one');
      const [first, second] = [next(record, 'two'), next(record, 'three')];
      expect([await store.replace(first, 'two'), await store.replace(second, 'three')]).toEqual([true, false]);
      await store.discard(newest(second));
      expect(await store.get(record._id)).toEqual(first);
      expect([await store.content(newest(record)), await store.content(newest(first))]).toEqual(['one', 'two']);
      expect(await store.content(newest(second))).toBeUndefined();
      await store.discard(newest(first));
      expect(await store.content(newest(first))).toBe('two');
    });

    it('lose the content of a version that never came about, once its writer must be gone', async () => {
      const store = await open();
      const record = aProduct('one');
      await store.add(record, 'one');
      await store.replace(next(record, 'two'), 'two');
      const stale = next(record, 'late');
      expect(await store.replace(stale, 'late')).toBe(false);
      await store.settle();
      expect(await store.content(newest(stale))).toBe('late');
      clock.offsetMs = 120_000;
      expect(await store.settle()).toBeGreaterThanOrEqual(1);
      expect(await store.content(newest(stale))).toBeUndefined();
      expect(await store.content(newest(record))).toBe('one');
    });

    it('have their content again when a deletion came to nothing', async () => {
      const store = await open();
      const record = aProduct('one');
      await store.add(record, 'one');
      expect(await store.remove(record._id, 7)).toBe(false);
      clock.offsetMs = 120_000;
      await store.settle();
      clock.offsetMs = 240_000;
      await store.settle();
      expect(await store.content(newest(record))).toBe('one');
      expect(await store.remove(record._id, 1)).toBe(true);
      expect([await store.get(record._id), await store.content(newest(record))]).toEqual([undefined, undefined]);
    });
  });
}
