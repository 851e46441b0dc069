import { eventually } from '../../../platform/testing/eventually';
import type { Database, LogEntry } from '../../../stores/port/collection';
import { InvalidOperationError, StoreUnavailableError } from '../../../stores/port/errors';
import { type StoreHarness, uniqueName } from './harness';

interface Session {
  _id: string;
  seenAt?: string;
}

interface Line extends LogEntry {
  at: string;
}

const past = new Date(0).toISOString();
const future = new Date(Date.now() + 3_600_000).toISOString();

/** Opening, declaring, expiring and closing. */
export function lifecycleContract(harness: StoreHarness): void {
  describe('lifecycle', () => {
    const opened: Database[] = [];
    const open = async (options?: { sweepEveryMs?: number }) => {
      const database = await harness.open(options);
      opened.push(database);
      return database;
    };
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((database) => database.close()));
    });

    it('answers a ping', async () => {
      const database = await open();
      await Promise.all([database.ping(), database.ping()]);
    });

    it('lets many connections declare the same thing at once', async () => {
      const name = uniqueName();
      const databases = await Promise.all(Array.from({ length: 4 }, () => open()));
      const collections = await Promise.all(
        databases.map((database) =>
          database.collection<Session>({ name, indexes: [{ keys: { seenAt: 1 }, unique: true }] }),
        ),
      );
      await Promise.all(collections.map((sessions, at) => sessions.insert({ _id: `s${at}` })));
      expect(await collections[0]!.find({}, { sort: { _id: 1 }, limit: 10 })).toHaveLength(4);
    });

    it.each([['Upper'], ['with space'], ['quote"'], [''], ['1st']])('refuses the name %j', async (name) => {
      const database = await open();
      await expect(database.collection({ name })).rejects.toThrow(InvalidOperationError);
      await expect(database.log({ name })).rejects.toThrow(InvalidOperationError);
    });

    it.each([['a"b'], ["a'b"], ['a..b'], ['$a'], ['a b']])('refuses an index on %j', async (path) => {
      const database = await open();
      const declared = database.collection({ name: uniqueName(), indexes: [{ keys: { [path]: 1 } }] });
      await expect(declared).rejects.toThrow(InvalidOperationError);
    });

    it('removes documents whose time is over, and only those', async () => {
      const database = await open({ sweepEveryMs: 20 });
      const expire = { field: 'seenAt', afterSeconds: 60 };
      const sessions = await database.collection<Session>({ name: uniqueName(), expire });
      for (const [_id, seenAt] of [
        ['old', past],
        ['new', future],
        ['never', undefined],
      ] as const) {
        await sessions.insert({ _id, ...(seenAt !== undefined && { seenAt }) });
      }
      await eventually(async () => expect(await sessions.get('old')).toBeUndefined());
      expect(await sessions.get('new')).toBeDefined();
      expect(await sessions.get('never')).toBeDefined();
    });

    it('never gives out a number again, even when every entry of a scope has expired', async () => {
      const database = await open({ sweepEveryMs: 20 });
      const log = await database.log<Line>({ name: uniqueName(), expire: { field: 'at', afterSeconds: 60 } });
      await log.append('s', [{ at: past }, { at: past }, { at: past }]);
      await log.append('kept', [{ at: past }, { at: future }]);
      await eventually(async () => expect(await log.read('s', 0, 10)).toEqual([]));
      expect(await log.last('s')).toBe(3);
      expect(await log.append('s', [{ at: future }])).toEqual([4]);
      await eventually(async () => expect(await log.read('kept', 0, 10)).toHaveLength(1));
      expect(await log.append('kept', [{ at: future }])).toEqual([3]);
    });

    it('refuses work once it is closed, after finishing what it had taken', async () => {
      const database = await open();
      const name = uniqueName();
      const sessions = await database.collection<Session>({ name });
      const inserted = Array.from({ length: 20 }, (_, at) => sessions.insert({ _id: `s${at}` }));
      await Promise.all(inserted);
      await database.close();
      await expect(sessions.insert({ _id: 'late' })).rejects.toThrow(StoreUnavailableError);
      await expect(sessions.get('s1')).rejects.toThrow(StoreUnavailableError);
      const again = await open();
      expect(await (await again.collection<Session>({ name })).count({ _id: { $gte: 's' } })).toBe(20);
    });
  });
}
