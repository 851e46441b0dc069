import type { LogEntry, Stored } from '../../../stores/port/collection';
import { DuplicateKeyError } from '../../../stores/port/errors';
import { workspaceDatabase } from '../../../stores/port/workspace-database';
import { type StoreHarness, uniqueName, useTwoConnections } from './harness';

interface Thing extends Stored {
  label: string;
}

/** What each workspace has to itself, on every adapter. */
export function workspacesContract(harness: StoreHarness): void {
  describe('the database of a workspace', () => {
    const stores = useTwoConnections(harness);
    const idOf = (letter: string) => `ws-${letter}${process.pid}x${Date.now()}`.slice(0, 35);
    const databases = () => ({
      local: stores.one,
      a: workspaceDatabase(stores.one, idOf('a')),
      b: workspaceDatabase(stores.other, idOf('b')),
    });
    const spec = () => ({ name: uniqueName(), indexes: [{ keys: { label: 1 } as const, unique: true }] });

    it('has collections of its own: the same id in each, and no filter or change reaches another', async () => {
      const { local, a, b } = databases();
      const declared = spec();
      const collections = await Promise.all([local, a, b].map((each) => each.collection<Thing>(declared)));
      await Promise.all(collections.map((each, index) => each.insert({ _id: 'same', label: `of ${index}` })));
      const [, ofA, ofB] = collections;
      expect(await Promise.all(collections.map((each) => each.count({ _id: { $gt: '' } })))).toEqual([1, 1, 1]);
      expect(await ofA?.updateMany({ _id: 'same' }, { $set: { label: 'changed' } })).toBe(1);
      expect(await ofB?.deleteMany({ label: 'changed' })).toBe(0);
      expect(await ofB?.deleteMany({ _id: 'same' })).toBe(1);
      expect(await Promise.all(collections.map((each) => each.get('same')))).toEqual([
        { _id: 'same', label: 'of 0' },
        { _id: 'same', label: 'changed' },
        undefined,
      ]);
    });

    it('calls its collections by their own names when a key is taken', async () => {
      const declared = spec();
      const things = await databases().a.collection<Thing>(declared);
      await things.insert({ _id: 'one', label: 'taken' });
      const taken = things.insert({ _id: 'two', label: 'taken' });
      await expect(taken).rejects.toThrow(DuplicateKeyError);
      await expect(taken).rejects.toMatchObject({ collection: declared.name });
    });

    it('has logs of its own, each with its own sequence, and notices in its own feed', async () => {
      const { a, b } = databases();
      const [events, feed] = [uniqueName(), uniqueName()];
      const append = async (database: typeof a, labels: string[]) => {
        const log = await database.log<LogEntry & { label: string }>({ name: events });
        const notices = await database.log<LogEntry & { upTo: number }>({ name: feed });
        const notice = { log: notices, scope: 'board', entry: (upTo: number) => ({ upTo }) };
        await log.appendWithNotice(
          'same',
          labels.map((label) => ({ label })),
          notice,
        );
        return { log, notices };
      };
      const ofA = await append(a, ['one', 'two']);
      const ofB = await append(b, ['other']);
      expect((await ofA.log.read('same', 0, 10)).map(({ label }) => label)).toEqual(['one', 'two']);
      expect((await ofB.log.read('same', 0, 10)).map(({ label, sequence }) => [label, sequence])).toEqual([
        ['other', 1],
      ]);
      expect((await ofB.notices.read('board', 0, 10)).map(({ upTo }) => upTo)).toEqual([1]);
    });

    it('has content of its own, which another cannot read by its hash', async () => {
      const { local, a, b } = databases();
      const name = uniqueName();
      const [ofLocal, ofA, ofB] = await Promise.all([local.blobs(name), a.blobs(name), b.blobs(name)]);
      const { sha256 } = await ofA.put(Buffer.from('content of a'));
      expect(await Promise.all([ofLocal.size(sha256), ofA.size(sha256), ofB.size(sha256)])).toEqual([
        undefined,
        12,
        undefined,
      ]);
    });

    it('stays open for the others when it is closed', async () => {
      const { a, b } = databases();
      await a.close();
      await b.ping();
      await a.ping();
    });

    it.each(['local', '', 'ws-', 'ws-a-b', 'ws-A', '../ws-abcd', 'ws-abcd\n'])('is refused the id %j', (id) => {
      expect(() => workspaceDatabase(stores.one, id)).toThrow(TypeError);
    });
  });
}
