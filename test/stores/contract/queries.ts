import type { Filter } from 'mongodb';
import type { Collection, FindOptions } from '../../../stores/port/collection';
import { InvalidOperationError, UnindexedQueryError } from '../../../stores/port/errors';
import { type StoreHarness, uniqueName, useTwoConnections } from './harness';

interface Item {
  _id: string;
  kind?: string | number | boolean | null;
  rank?: number;
  place?: { city: string; zip?: number };
  tags?: string[];
  name?: string;
  code?: string;
}

const items: Item[] = [
  { _id: 'a', kind: 'fruit', rank: 3, place: { city: 'Ulm', zip: 1 }, tags: ['x', 'y'], name: 'apple', code: 'c1' },
  { _id: 'b', kind: 'fruit', rank: 1, place: { city: 'Bonn' }, tags: ['y'], name: 'banana', code: 'c2' },
  { _id: 'c', kind: 'root', rank: 2, place: { city: 'Ulm', zip: 5 }, tags: [], name: 'carrot' },
  { _id: 'd', kind: 1, rank: 2, name: 'date' },
  { _id: 'e', kind: true, rank: 5 },
  { _id: 'f', kind: '1', rank: 4 },
  { _id: 'g', kind: null, rank: 6 },
  { _id: 'h', rank: 7 },
  { _id: 'i', kind: 0, rank: 8 },
  { _id: 'j', kind: 'Ünder', rank: 9 },
];

/** Which documents a filter finds, in which order, and which queries are refused. */
export function queriesContract(harness: StoreHarness): void {
  describe('queries', () => {
    const db = useTwoConnections(harness);
    let stored: Collection<Item>;
    beforeAll(async () => {
      stored = await db.one.collection<Item>({
        name: uniqueName(),
        indexes: [
          { keys: { kind: 1, rank: -1 } },
          { keys: { 'place.city': 1 } },
          { keys: { rank: 1 } },
          { keys: { code: 1 }, unique: true },
        ],
      });
      await Promise.all(items.map((item) => stored.insert(item)));
    });

    const find = async (filter: Filter<Item>, options?: FindOptions) =>
      (await stored.find(filter, options)).map(({ _id }) => _id);
    const ids = async (filter: Filter<Item>, options?: FindOptions) => (await find(filter, options)).join('');
    const sorted = async (filter: Filter<Item>) => (await find(filter)).sort().join('');

    it.each<[string, Filter<Item>]>([
      ['a', { _id: 'a' }],
      ['', { _id: 5 as never }],
      ['ab', { kind: 'fruit' }],
      ['a', { kind: 'fruit', rank: 3 }],
      ['d', { kind: 1 }],
      ['e', { kind: true }],
      ['f', { kind: '1' }],
      ['i', { kind: 0 }],
      ['gh', { kind: null }],
      ['h', { kind: { $exists: false } }],
      ['abc', { kind: { $in: ['fruit', 'root', 'nothing'] } }],
      ['de', { kind: { $in: [1, true] } }],
      ['', { kind: { $in: [] } }],
      ['ac', { 'place.city': 'Ulm' }],
      ['c', { 'place.city': 'Ulm', 'place.zip': { $gt: 1 } }],
      ['abcd', { rank: { $lt: 4 } }],
      ['aef', { rank: { $gte: 3, $lte: 5 } }],
      ['cd', { rank: { $gt: 1, $lt: 3 } }],
      ['abcfj', { kind: { $gte: '' } }],
      ['df', { $or: [{ kind: 1 }, { kind: '1' }] }],
      ['bj', { $or: [{ 'place.city': 'Bonn' }, { rank: { $gt: 8 } }] }],
      ['di', { kind: { $gte: 0 } }],
      ['i', { kind: { $lt: 1 } }],
      ['j', { kind: { $gt: 'z' } }],
      ['ab', { kind: 'fruit', tags: 'y' }],
      ['a', { kind: 'fruit', tags: { $all: ['x', 'y'] } }],
      ['b', { kind: 'fruit', tags: { $size: 1 } }],
      ['b', { kind: 'fruit', name: { $regex: '^B', $options: 'i' } }],
      ['a', { kind: 'fruit', name: /pp/ }],
      ['a', { kind: 'fruit', name: { $ne: 'banana' } }],
      ['b', { kind: 'fruit', rank: { $not: { $gt: 2 } } }],
      ['b', { kind: 'fruit', $nor: [{ name: 'apple' }] }],
      ['a', { $and: [{ kind: 'fruit' }, { $and: [{ rank: { $gt: 1 } }] }] }],
      ['a', { code: 'c1' }],
      ['ab', { code: { $gte: 'c' } }],
      ['aegij', { _id: { $in: ['a', 'e', 'g', 'i', 'j', 'z'] } }],
      ['hij', { _id: { $gt: 'g' } }],
      ['c', { _id: { $gte: 'b' }, 'place.city': 'Ulm' }],
    ])('finds %j by %j', async (expected, filter) => {
      expect(await sorted(filter)).toBe(expected);
      expect(await stored.count(filter)).toBe(expected.length);
    });

    it.each<[string, Filter<Item>, FindOptions]>([
      ['ab', { kind: 'fruit' }, { sort: { rank: -1 } }],
      ['ba', { kind: 'fruit' }, { sort: { rank: 1 } }],
      ['ba', { kind: 'fruit' }, { sort: { kind: 1, rank: 1 } }],
      ['bc', { rank: { $gt: 0 } }, { sort: { rank: 1, _id: 1 }, limit: 2 }],
      ['jihgefadcb', { rank: { $gt: 0 } }, { sort: { rank: -1, _id: -1 } }],
      ['ef', { rank: { $gt: 3 } }, { sort: { name: 1, _id: 1 }, limit: 2 }],
      ['fed', { _id: { $in: ['d', 'e', 'f'] } }, { sort: { _id: -1 } }],
      ['cde', {}, { sort: { _id: 1 }, skip: 2, limit: 3 }],
      ['ji', {}, { sort: { _id: -1 }, limit: 2 }],
      ['b', {}, { sort: { rank: 1 }, limit: 1 }],
      ['', { kind: 'fruit' }, { limit: 0 }],
      ['', { kind: 'fruit' }, { skip: 5 }],
      ['hgidfabcje', { rank: { $gt: 0 } }, { sort: { kind: 1, name: 1, _id: -1 } }],
    ])('gives %j for %j with %j', async (expected, filter, options) => {
      expect(await ids(filter, options)).toBe(expected);
    });

    it.each([20, 100, 1_000])(
      'finds up to %i documents in the order of the sort, with every character',
      async (limit) => {
        const many = await db.one.collection<Item>({ name: uniqueName(), indexes: [{ keys: { kind: 1, rank: -1 } }] });
        const numbers = Array.from({ length: 150 }, (_, rank) => rank);
        const names = ['"],[{"', 'line\nbreak', '😀\u2028', ','];
        const made = numbers.map((rank): Item => {
          const name = names[rank % names.length] ?? '';
          return { _id: `item-${(rank * 7) % 150}`, kind: 'many', rank, name };
        });
        await many.insertAll(made);
        const sort = { rank: -1 } as const;
        const newest = made.toReversed();
        expect(await many.find({ kind: 'many' }, { sort, limit })).toEqual(newest.slice(0, limit));
        expect(await many.find({ kind: 'many' }, { sort, limit, skip: 30 })).toEqual(newest.slice(30, 30 + limit));
        expect(await many.find({ kind: 'none' }, { sort, limit })).toEqual([]);
      },
    );

    it.each<[Filter<Item>, FindOptions, Pick<Item, 'kind' | 'place'>[]]>([
      [
        { kind: 'fruit' },
        { sort: { rank: -1 } },
        [
          { kind: 'fruit', place: { city: 'Ulm', zip: 1 } },
          { kind: 'fruit', place: { city: 'Bonn' } },
        ],
      ],
      [
        { kind: { $in: ['fruit', 'root'] } },
        { sort: { rank: 1 }, skip: 1, limit: 1 },
        [{ kind: 'root', place: { city: 'Ulm', zip: 5 } }],
      ],
      [{ rank: { $gt: 4 } }, { sort: { rank: 1, _id: 1 }, limit: 3 }, [{ kind: true }, { kind: null }, {}]],
      [
        { 'place.city': 'Ulm' },
        { sort: { 'place.zip': -1 }, limit: 1 },
        [{ kind: 'root', place: { city: 'Ulm', zip: 5 } }],
      ],
      [
        { kind: { $in: ['1', null] }, rank: { $gt: 0 } },
        { sort: { name: 1, rank: 1 }, limit: 2 },
        [{ kind: '1' }, { kind: null }],
      ],
      [{ kind: 'fruit' }, { limit: 0 }, []],
    ])('finds some fields by %j with %j', async (filter, options, expected) => {
      expect(await stored.findFields(filter, ['kind', 'place'], options)).toEqual(expected);
    });

    it('finds the ids alone', async () => {
      expect(await stored.findFields({ kind: 'fruit' }, ['_id'], { sort: { rank: 1 } })).toEqual([
        { _id: 'b' },
        { _id: 'a' },
      ]);
    });

    it('pages through everything once', async () => {
      const seen: string[] = [];
      for (let last = ''; ; last = seen.at(-1)!) {
        const page = await stored.find({ _id: { $gt: last } }, { sort: { _id: 1 }, limit: 3 });
        seen.push(...page.map(({ _id }) => _id));
        if (page.length < 3) {
          break;
        }
      }
      expect(seen.join('')).toBe('abcdefghij');
    });

    it.each<[Filter<Item>, FindOptions | undefined]>([
      [{}, undefined],
      [{}, { limit: 5 }],
      [{}, { sort: { _id: 1 } }],
      [{}, { sort: { code: 1 }, limit: 5 }],
      [{ name: 'apple' }, undefined],
      [{ kind: { $ne: 'fruit' } }, undefined],
      [{ code: null as never }, undefined],
      [{ code: { $exists: false } }, undefined],
      [{ 'place.zip': 1 }, undefined],
      [{ $or: [{ kind: 'fruit' }, { name: 'x' }] }, undefined],
      [{ kind: { $exists: true } }, undefined],
    ])('refuses %j %j: no index serves it', async (filter, options) => {
      await expect(stored.find(filter, options)).rejects.toThrow(UnindexedQueryError);
      await expect(stored.findFields(filter, ['name'], options)).rejects.toThrow(UnindexedQueryError);
      if (!options) {
        await expect(stored.count(filter)).rejects.toThrow(UnindexedQueryError);
        await expect(stored.updateMany(filter, { $set: { name: 'x' } })).rejects.toThrow(UnindexedQueryError);
        await expect(stored.deleteMany(filter)).rejects.toThrow(UnindexedQueryError);
        await expect(stored.aggregate([{ $match: filter }])).rejects.toThrow(UnindexedQueryError);
      }
    });

    it.each<[string, object]>([
      ['undefined', { kind: undefined }],
      ['undefined deep inside', { kind: 'fruit', place: { city: undefined } }],
      ['a Date', { kind: new Date() }],
      ['code', { kind: 'fruit', $where: 'true' }],
      ['an expression', { kind: 'fruit', $expr: { $eq: [1, 1] } }],
      ['an unknown operator', { kind: { $near: 1 } }],
      ['a path through __proto__', { kind: 'fruit', '__proto__.polluted': 1 }],
      ['a path through constructor', { kind: 'fruit', 'constructor.prototype': 1 }],
      ['an empty path', { kind: 'fruit', 'a..b': 1 }],
      ['$in without a list', { kind: { $in: 'fruit' } }],
      ['an empty $or', { kind: 'fruit', $or: [] }],
    ])('refuses a filter with %s', async (_, filter) => {
      await expect(stored.find(filter as Filter<Item>)).rejects.toThrow(InvalidOperationError);
    });
  });
}
