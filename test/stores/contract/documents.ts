import type { Collection } from '../../../stores/port/collection';
import { DuplicateKeyError, InvalidOperationError } from '../../../stores/port/errors';
import { type StoreHarness, uniqueName, useTwoConnections } from './harness';

interface Person {
  _id: string;
  email?: string | number | boolean | null;
  team?: string | null;
  number?: number | null;
  notes?: unknown;
}

/** Inserting, reading back, and what unique indexes refuse. */
export function documentsContract(harness: StoreHarness): void {
  describe('documents', () => {
    const db = useTwoConnections(harness);
    let people: Collection<Person>;
    beforeEach(async () => {
      people = await db.one.collection<Person>({
        name: uniqueName(),
        indexes: [
          { keys: { email: 1 }, unique: true },
          { keys: { team: 1, number: -1 }, unique: true },
        ],
      });
    });

    it('answers what was inserted, and undefined for an id that is not there', async () => {
      const person = { _id: 'a', email: 'a@x', notes: { deep: [1, 2.5, null, 'ü𝒳', { x: false }], empty: {} } };
      await people.insert(person);
      expect(await people.get('a')).toEqual(person);
      expect(await people.get('b')).toBeUndefined();
      expect(await people.get('a')).toEqual(person);
    });

    it('stores what JSON reports: undefined is left out and dates become text', async () => {
      await people.insert({ _id: 'a', email: undefined, notes: { at: new Date(0), none: undefined } });
      expect(await people.get('a')).toStrictEqual({ _id: 'a', notes: { at: '1970-01-01T00:00:00.000Z' } });
    });

    it('hands out copies: changing one changes nothing stored', async () => {
      const notes = { list: [1] };
      await people.insert({ _id: 'a', notes });
      notes.list.push(2);
      const update = { list: [3] };
      const after = await people.findOneAndUpdate({ _id: 'a' }, { $set: { 'notes.more': update } });
      update.list.push(4);
      (after!.notes as typeof notes).list.push(5);
      expect(await people.get('a')).toEqual({ _id: 'a', notes: { list: [1], more: { list: [3] } } });
    });

    it('refuses an id twice', async () => {
      await people.insert({ _id: 'a' });
      const again = people.insert({ _id: 'a', team: 'x' });
      await expect(again).rejects.toThrow(DuplicateKeyError);
      await expect(again).rejects.toMatchObject({ keys: ['_id'] });
    });

    it('inserts documents in their order, up to the first that is taken', async () => {
      await people.insert({ _id: 'c', email: 'c@x' });
      const all = ['a', 'b', 'c', 'd'].map((_id) => ({ _id, email: `${_id}@x` }));
      expect(await people.insertAll(all)).toBe(2);
      expect(await people.insertAll([{ _id: 'e', email: 'e@x' }, { _id: 'f', email: 'a@x' }, { _id: 'g' }])).toBe(1);
      expect(await people.insertAll([])).toBe(0);
      expect(
        (await people.find({ _id: { $in: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] } })).map(({ _id }) => _id).sort(),
      ).toEqual(['a', 'b', 'c', 'e']);
    });

    it('inserts nothing of a batch that has a document which cannot be stored', async () => {
      const hostile = { _id: 'b', email: ['x'] as unknown as string };
      await expect(people.insertAll([{ _id: 'a' }, hostile])).rejects.toThrow();
      expect(await people.get('a')).toBeUndefined();
    });

    it('lets exactly one of many insert an id', async () => {
      const inserts = Array.from({ length: 50 }, (_, number) => people.insert({ _id: 'a', team: 't', number }));
      const outcomes = await Promise.allSettled(inserts);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const winner = outcomes.findIndex(({ status }) => status === 'fulfilled');
      expect(await people.get('a')).toMatchObject({ number: winner });
    });

    it('refuses a value of a unique index twice, and reports which key', async () => {
      await people.insert({ _id: 'a', email: 'a@x' });
      const again = people.insert({ _id: 'b', email: 'a@x' });
      await expect(again).rejects.toThrow(DuplicateKeyError);
      await expect(again).rejects.toMatchObject({ keys: ['email'] });
      await people.insert({ _id: 'c', email: 'c@x' });
      const change = people.findOneAndUpdate({ _id: 'c' }, { $set: { email: 'a@x' } });
      await expect(change).rejects.toMatchObject({ name: 'DuplicateKeyError', keys: ['email'] });
      expect(await people.get('c')).toEqual({ _id: 'c', email: 'c@x' });
    });

    it('distinguishes the types of unique values', async () => {
      for (const [at, email] of [1, '1', true, 'true', null, 'null', 0, false].entries()) {
        await people.insert({ _id: `p${at}`, email });
      }
      await expect(people.insert({ _id: 'again', email: null })).rejects.toThrow(DuplicateKeyError);
      await expect(people.insert({ _id: 'again', email: true })).rejects.toThrow(DuplicateKeyError);
    });

    it('lets documents without any key of a unique index be', async () => {
      await people.insert({ _id: 'a' });
      await people.insert({ _id: 'b' });
      expect(await people.count({ _id: { $in: ['a', 'b'] } })).toBe(2);
    });

    it('takes a missing key of a compound unique index for null once another key is there', async () => {
      await people.insert({ _id: 'a', team: 'red', number: 1 });
      await people.insert({ _id: 'b', team: 'red', number: 2 });
      await people.insert({ _id: 'c', team: 'red' });
      for (const number of [1, 2, null, undefined]) {
        const again = people.insert({ _id: 'd', team: 'red', number });
        await expect(again).rejects.toMatchObject({ name: 'DuplicateKeyError', keys: ['team', 'number'] });
      }
    });

    it.each([
      ['an own __proto__', '{"__proto__":{"polluted":1}}'],
      ['names every object inherits', '{"constructor":{"name":"Date"},"toString":1,"hasOwnProperty":null}'],
      ['names that look like operators and paths', '{"$set":{"a.b":1},"$where":"x","":{"..":2}}'],
      ['text with NUL', '{"text":"a\\u0000b"}'],
    ])('stores %s inside a document as it is', async (_, json) => {
      const notes: unknown = JSON.parse(json);
      await people.insert({ _id: 'a', notes });
      expect(JSON.stringify((await people.get('a'))!.notes)).toBe(json);
      const after = await people.findOneAndUpdate({ _id: 'a' }, { $set: { team: 'x' } });
      expect(JSON.stringify(after!.notes)).toBe(json);
      await people.findOneAndUpdate({ _id: 'a' }, { $set: { notes: { again: notes } } });
      expect(JSON.stringify((await people.get('a'))!.notes)).toBe(`{"again":${json}}`);
      expect(({} as { polluted?: number }).polluted).toBeUndefined();
    });

    it.each<[string, object]>([
      ['without an id', { email: 'x' }],
      ['with an id that is not text', { _id: 5 }],
      ['with an empty id', { _id: '' }],
      ['with NUL in its id', { _id: 'a\0b' }],
      ['with an endless id', { _id: 'x'.repeat(1025) }],
      ['with half a character in its id', { _id: 'a\ud800' }],
      ['with an operator for a field', { _id: 'a', $set: 1 }],
      ['with a path for a field', { _id: 'a', 'notes.x': 1 }],
      ['with NUL in a field name', { _id: 'a', notes: [{ 'x\0': 1 }] }],
      ['with a list on an indexed path', { _id: 'a', email: ['x'] }],
      ['with an object on an indexed path', { _id: 'a', email: { x: 1 } }],
    ])('refuses a document %s', async (_, document) => {
      await expect(people.insert(document as Person)).rejects.toThrow(InvalidOperationError);
    });

    it('shows other connections what is stored', async () => {
      const name = uniqueName();
      const [mine, theirs] = await Promise.all([
        db.one.collection<Person>({ name, indexes: [{ keys: { team: 1 } }] }),
        db.other.collection<Person>({ name, indexes: [{ keys: { team: 1 } }] }),
      ]);
      await mine.insert({ _id: 'a', team: 'x' });
      expect(await theirs.find({ team: 'x' })).toEqual([{ _id: 'a', team: 'x' }]);
      await theirs.deleteMany({ _id: 'a' });
      expect(await mine.get('a')).toBeUndefined();
    });
  });
}
