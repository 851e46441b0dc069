import type { Page, PageRequest } from '../../../platform/lists/page';
import type { Collection, Stored } from '../../../stores/port/collection';
import { findPage, type PageOrder } from '../../../stores/port/find-page';
import { type StoreHarness, uniqueName, useTwoConnections } from './harness';

interface Item extends Stored {
  kind: string;
  at: string;
  sequence: number;
}

const newest: PageOrder = { key: 'at', direction: -1 };
const oldest: PageOrder = { key: 'at', direction: 1 };

/** Three moments for nine items: most have the key of another one. */
const items: Item[] = Array.from({ length: 9 }, (_, n) => ({
  _id: `item-${(n * 4) % 9}`,
  kind: n % 3 === 0 ? 'even' : 'odd',
  at: `2026-01-0${1 + (n % 3)}T00:00:00.000Z`,
  sequence: n + 1,
}));

/** Every document of a list is on exactly one page, whatever is written during the reads. */
export function pagesContract(harness: StoreHarness): void {
  describe('pages', () => {
    const db = useTwoConnections(harness);
    let stored: Collection<Item>;
    beforeEach(async () => {
      stored = await db.one.collection<Item>({
        name: uniqueName(),
        indexes: [
          { keys: { at: -1, _id: -1 } },
          { keys: { kind: 1, at: -1, _id: -1 } },
          { keys: { sequence: 1 }, unique: true },
        ],
      });
      for (const item of items) {
        await stored.insert(item);
      }
    });

    async function follow(
      page: (part: PageRequest) => Promise<Page<Item>>,
      between: (read: number) => Promise<void> = async () => undefined,
    ): Promise<string[]> {
      const seen: string[] = [];
      for (let part: PageRequest = { limit: 2 }; ;) {
        const { items: found, next } = await page(part);
        expect(found.length).toBeLessThanOrEqual(2);
        seen.push(...found.map(({ _id }) => _id));
        if (!next) {
          return seen;
        }
        await between(seen.length);
        // A cursor goes to the caller and back as JSON.
        part = { limit: 2, cursor: JSON.parse(JSON.stringify(next)) };
      }
    }

    const inOrder = (list: Item[], direction: 1 | -1): string[] =>
      [...list].sort((a, b) => direction * (a.at + a._id < b.at + b._id ? -1 : 1)).map(({ _id }) => _id);

    it.each([
      ['newest', newest, -1],
      ['oldest', oldest, 1],
    ] as const)('hold every document once, the %s first', async (_name, order, direction) => {
      const seen = await follow((part) => findPage(stored, { filter: {}, order }, part));
      expect(seen).toEqual(inOrder(items, direction));
    });

    it('hold what the filter finds, beside its own conditions on the key', async () => {
      const from = '2026-01-02T00:00:00.000Z';
      const seen = await follow((part) =>
        findPage(stored, { filter: { kind: 'odd', at: { $gte: from } }, order: newest }, part),
      );
      expect(seen).toEqual(
        inOrder(
          items.filter(({ kind, at }) => kind === 'odd' && at >= from),
          -1,
        ),
      );
      expect(seen.length).toBeGreaterThan(2);
    });

    it.each([1, -1] as const)('follow a unique key in direction %i, and ids', async (direction) => {
      const bySequence = await follow((part) =>
        findPage(
          stored,
          { filter: { sequence: { $gte: 1 } }, order: { key: 'sequence', direction, unique: true } },
          part,
        ),
      );
      const expected = items.map(({ _id }) => _id);
      expect(bySequence).toEqual(direction === 1 ? expected : expected.reverse());
      const byId = await follow((part) =>
        findPage(stored, { filter: { _id: { $gt: '' } }, order: { key: '_id', direction } }, part),
      );
      expect(byId).toEqual(items.map(({ _id }) => _id).sort((a, b) => direction * (a < b ? -1 : 1)));
    });

    it('neither skip nor repeat one while others write and delete', async () => {
      const seen = await follow(
        (part) => findPage(stored, { filter: {}, order: newest }, part),
        async (read) => {
          const other = { kind: 'new', sequence: 100 + read };
          await stored.insert({ _id: `new-${read}`, at: '2026-02-01T00:00:00.000Z', ...other });
          // What the page before ended with may be gone when the next one is read.
          if (read === 2) {
            await stored.deleteMany({ _id: inOrder(items, -1)[1]! });
          }
        },
      );
      expect(seen).toEqual(inOrder(items, -1));
    });

    it('begin further on when items are passed over, and end with nothing beyond the last', async () => {
      const page = await findPage(stored, { filter: {}, order: newest }, { limit: 3, offset: 6 });
      expect(page.items.map(({ _id }) => _id)).toEqual(inOrder(items, -1).slice(6));
      expect(page.next).toBeUndefined();
      expect((await findPage(stored, { filter: {}, order: newest }, { limit: 9 })).next).toBeUndefined();
      expect((await findPage(stored, { filter: {}, order: newest }, { limit: 8 })).next).toEqual({
        key: expect.any(String),
        id: inOrder(items, -1)[7],
      });
    });
  });
}
