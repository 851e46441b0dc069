import type { UpdateFilter } from 'mongodb';
import type { Collection, CollectionSpec } from '../../../stores/port/collection';
import { DuplicateKeyError, InvalidOperationError } from '../../../stores/port/errors';
import { type StoreHarness, uniqueName, useTwoConnections } from './harness';

interface Record_ {
  _id: string;
  revision: number;
  state?: string;
  count?: number;
  list?: unknown[];
  deep?: Record<string, unknown>;
  key?: string;
}

/** What updates do, alone and against each other. */
export function updatesContract(harness: StoreHarness): void {
  describe('updates', () => {
    const db = useTwoConnections(harness);
    let name: string;
    let records: Collection<Record_>;
    let elsewhere: Collection<Record_>;
    beforeEach(async () => {
      name = uniqueName();
      const spec: CollectionSpec = { name, indexes: [{ keys: { state: 1 } }, { keys: { key: 1 }, unique: true }] };
      [records, elsewhere] = await Promise.all([db.one.collection<Record_>(spec), db.other.collection<Record_>(spec)]);
    });

    const start = { _id: 'a', revision: 1, count: 5, list: [1, 2, 2, { x: 1 }], deep: { inner: { n: 1 } } };

    it.each<[update: object, changed: object]>([
      [{ $set: { count: 6 } }, { count: 6 }],
      [{ $set: { 'deep.inner.m': [1] } }, { deep: { inner: { n: 1, m: [1] } } }],
      [{ $set: { 'deep.new.path': 1 } }, { deep: { inner: { n: 1 }, new: { path: 1 } } }],
      [{ $unset: { count: '' } }, { count: undefined }],
      [{ $unset: { 'deep.inner.n': '' } }, { deep: { inner: {} } }],
      [{ $inc: { revision: 1, count: -2.5 } }, { revision: 2, count: 2.5 }],
      [{ $inc: { 'deep.fresh': 3 } }, { deep: { inner: { n: 1 }, fresh: 3 } }],
      [{ $mul: { count: 2 } }, { count: 10 }],
      [{ $min: { count: 3 } }, { count: 3 }],
      [{ $min: { count: 9 } }, { count: 5 }],
      [{ $max: { count: 9 } }, { count: 9 }],
      [{ $push: { list: 7 } }, { list: [1, 2, 2, { x: 1 }, 7] }],
      [{ $push: { list: { $each: [8, 9], $slice: -2 } } }, { list: [8, 9] }],
      [{ $push: { 'deep.list': 'x' } }, { deep: { inner: { n: 1 }, list: ['x'] } }],
      [{ $addToSet: { list: { $each: [2, 3] } } }, { list: [1, 2, 2, { x: 1 }, 3] }],
      [{ $addToSet: { list: { x: 1 } } }, { list: [1, 2, 2, { x: 1 }] }],
      [{ $pull: { list: 2 } }, { list: [1, { x: 1 }] }],
      [{ $pull: { list: { x: 1 } } }, { list: [1, 2, 2] }],
      [{ $pull: { list: { $gte: 2 } } }, { list: [1, { x: 1 }] }],
      [{ $pop: { list: 1 } }, { list: [1, 2, 2] }],
      [{ $set: { state: undefined, count: 1 } }, { count: 1 }],
      [{ $setOnInsert: { count: 1 } }, {}],
    ])('applies %j', async (update, changed) => {
      await records.insert(structuredClone(start));
      const expected = JSON.parse(JSON.stringify({ ...start, ...changed })) as object;
      expect(await records.findOneAndUpdate({ _id: 'a' }, update as UpdateFilter<Record_>)).toEqual(expected);
      expect(await records.get('a')).toEqual(expected);
    });

    it.each<[string, object]>([
      ['nothing', {}],
      ['a replacement', { count: 1 }],
      ['an unknown operator', { $currentDate: { count: true } }],
      ['the id', { $set: { _id: 'b' } }],
      ['one place twice', { $set: { count: 1 }, $inc: { count: 1 } }],
      ['a place inside another', { $set: { deep: {}, 'deep.x': 1 } }],
      ['a positional path', { $set: { 'list.$.x': 1 } }],
      ['__proto__', { $set: { '__proto__.polluted': 1 } }],
      ['constructor', { $set: { 'constructor.prototype.polluted': 1 } }],
      ['an inherited function', { $set: { 'toString.call': 1 } }],
      ['a list on an indexed path', { $set: { state: ['x'] } }],
      ['an object on an indexed path', { $set: { 'state.x': 1 } }],
      ['a push on an indexed path', { $push: { state: 'x' } }],
      ['text as a number', { $inc: { state: 1 } }],
      ['a number as a list', { $push: { count: 1 } }],
      ['a field of a number', { $set: { 'count.x': 1 } }],
    ])('refuses to change %s', async (_, update) => {
      const document = { ...structuredClone(start), state: 'new' };
      await records.insert(document);
      const change = records.findOneAndUpdate({ _id: 'a' }, update);
      await expect(change).rejects.toThrow(InvalidOperationError);
      expect(await records.get('a')).toEqual(document);
      expect(({} as { polluted?: number }).polluted).toBeUndefined();
      expect(typeof Object.prototype.toString.call).toBe('function');
    });

    it('answers undefined when nothing matches', async () => {
      expect(await records.findOneAndUpdate({ _id: 'a', revision: 1 }, { $set: { count: 1 } })).toBeUndefined();
    });

    it('takes the first in the order that is asked for', async () => {
      for (const [at, count] of [3, 1, 2].entries()) {
        await records.insert({ _id: `r${at}`, revision: 1, state: 'waiting', count });
      }
      const take = () =>
        records.findOneAndUpdate({ state: 'waiting' }, { $set: { state: 'taken' } }, { sort: { count: 1 } });
      expect([await take(), await take(), await take(), await take()].map((each) => each?.count)).toEqual([
        1,
        2,
        3,
        undefined,
      ]);
    });

    it('lets exactly one of 50 writers win a revision', async () => {
      await records.insert({ _id: 'a', revision: 1 });
      const writers = Array.from({ length: 50 }, (_, count) =>
        (count % 2 === 0 ? records : elsewhere).findOneAndUpdate(
          { _id: 'a', revision: 1 },
          { $set: { count }, $inc: { revision: 1 } },
        ),
      );
      const winners = (await Promise.all(writers)).filter((outcome) => outcome !== undefined);
      expect(winners).toHaveLength(1);
      expect(await records.get('a')).toEqual({ _id: 'a', revision: 2, count: winners[0]!.count });
    });

    it('counts exactly under 50 concurrent writers', async () => {
      await records.insert({ _id: 'a', revision: 0 });
      const writer = async (own: Collection<Record_>) => {
        for (let at = 0; at < 20; at += 1) {
          await own.findOneAndUpdate({ _id: 'a' }, { $inc: { revision: 1 } });
        }
      };
      await Promise.all(Array.from({ length: 50 }, (_, at) => writer(at % 2 === 0 ? records : elsewhere)));
      expect((await records.get('a'))!.revision).toBe(1000);
    });

    it('inserts with upsert, from the filter and the update', async () => {
      const upsert = () =>
        records.findOneAndUpdate(
          { _id: 'a', state: 'new', revision: { $gte: 0 } },
          { $inc: { revision: 1 }, $setOnInsert: { 'deep.x': 1 }, $push: { list: 1 } },
          { upsert: true },
        );
      expect(await upsert()).toEqual({ _id: 'a', state: 'new', revision: 1, deep: { x: 1 }, list: [1] });
      expect(await upsert()).toEqual({ _id: 'a', state: 'new', revision: 2, deep: { x: 1 }, list: [1, 1] });
    });

    it('makes one document of many concurrent upserts', async () => {
      const upserts = Array.from({ length: 50 }, (_, at) =>
        (at % 2 === 0 ? records : elsewhere).findOneAndUpdate(
          { _id: 'a' },
          { $inc: { revision: 1 } },
          { upsert: true },
        ),
      );
      const revisions = (await Promise.all(upserts)).map((document) => document!.revision);
      expect(revisions).toHaveLength(50);
      expect((await records.get('a'))!.revision).toBe(50);
      if (!harness.answersOwnResult) {
        return;
      }
      expect(revisions.sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, at) => at + 1));
    });

    it('refuses an upsert that meets a document its filter does not match, or has no id', async () => {
      await records.insert({ _id: 'a', revision: 2, key: 'k' });
      const stale = records.findOneAndUpdate({ _id: 'a', revision: 1 }, { $set: { count: 1 } }, { upsert: true });
      await expect(stale).rejects.toThrow(DuplicateKeyError);
      const taken = records.findOneAndUpdate({ _id: 'b' }, { $set: { key: 'k' } }, { upsert: true });
      await expect(taken).rejects.toMatchObject({ name: 'DuplicateKeyError', keys: ['key'] });
      const nameless = records.findOneAndUpdate({ state: 'x' }, { $set: { count: 1 } }, { upsert: true });
      await expect(nameless).rejects.toThrow(InvalidOperationError);
    });

    it('changes and deletes many, and reports how many', async () => {
      await Promise.all(
        Array.from({ length: 1200 }, (_, at) =>
          records.insert({ _id: `r${at}`, revision: at, state: at % 2 === 0 ? 'even' : 'odd' }),
        ),
      );
      expect(await records.updateMany({ state: 'even' }, { $set: { count: 1 }, $inc: { revision: 1 } })).toBe(600);
      expect(await records.updateMany({ state: 'even' }, { $set: { count: 1 } })).toBe(0);
      expect(await records.get('r4')).toEqual({ _id: 'r4', revision: 5, state: 'even', count: 1 });
      expect(await records.deleteMany({ state: 'even', revision: { $lt: 100 } })).toBe(50);
      expect(await records.count({ state: 'even' })).toBe(550);
      expect(await records.deleteMany({ state: 'odd' })).toBe(600);
      expect(await records.count({ state: 'odd' })).toBe(0);
    });
  });
}
