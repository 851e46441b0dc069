import { eventually } from '../../../platform/testing/eventually';
import type { EntryLog, LogEntry } from '../../../stores/port/collection';
import { InvalidOperationError, SealedScopeError } from '../../../stores/port/errors';
import { type StoreHarness, uniqueName, useTwoConnections } from './harness';

interface Line extends LogEntry {
  text: string;
  payload?: unknown;
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

/** Appending without gaps, and hearing of it. */
export function logContract(harness: StoreHarness): void {
  describe('log', () => {
    const db = useTwoConnections(harness);
    let log: EntryLog<Line>;
    let elsewhere: EntryLog<Line>;
    let ended: AbortController;
    beforeEach(async () => {
      const name = uniqueName();
      [log, elsewhere] = await Promise.all([db.one.log<Line>({ name }), db.other.log<Line>({ name })]);
      ended = new AbortController();
    });
    afterEach(() => ended.abort());

    /** Collects what a watcher receives, until the test ends. */
    function watch(own: EntryLog<Line>, scope: string, after = 0): Line[] {
      const received: Line[] = [];
      void (async () => {
        for await (const entries of own.watch(scope, { after, signal: ended.signal })) {
          received.push(...entries);
        }
      })();
      return received;
    }

    it('is trimmed to its last entry, whose sequence and key remain', async () => {
      expect(await log.trim('t')).toBe(0);
      await log.append('t', [{ text: 'a' }, { text: 'b' }, { text: 'c', dedupeKey: 'end' }]);
      await log.append('other', [{ text: 'a' }, { text: 'b' }]);
      expect(await elsewhere.trim('t')).toBe(2);
      expect(await log.trim('t')).toBe(0);
      expect(await log.read('t', 0, 10)).toMatchObject([{ sequence: 3, text: 'c' }]);
      expect(await log.append('t', [{ text: 'again', dedupeKey: 'end' }, { text: 'd' }])).toEqual([3, 4]);
      expect(await log.read('other', 0, 10)).toHaveLength(2);
    });

    it('notifies another log of an append, once both are there', async () => {
      const name = uniqueName();
      const [feed, watchedFeed] = await Promise.all([db.one.log<Line>({ name }), db.other.log<Line>({ name })]);
      const notices = watch(watchedFeed, 'all');
      const notice = { log: feed, scope: 'all', entry: (last: number) => ({ text: `up to ${last}` }) };
      expect(await log.appendWithNotice('s', [{ text: 'a' }, { text: 'b' }], notice)).toEqual([1, 2]);
      expect(await log.appendWithNotice('s', [{ text: 'c', dedupeKey: 'k' }], notice)).toEqual([3]);
      expect(await log.appendWithNotice('s', [{ text: 'c', dedupeKey: 'k' }], notice)).toEqual([3]);
      expect(await log.appendWithNotice('s', [], notice)).toEqual([]);
      await eventually(() => expect(notices.map(({ text }) => text)).toEqual(['up to 2', 'up to 3', 'up to 3']));
      expect((await elsewhere.read('s', 0, 10)).map(({ text }) => text)).toEqual(['a', 'b', 'c']);
    });

    it('never shows a notice before its entries', async () => {
      const name = uniqueName();
      const [feed, watchedFeed] = await Promise.all([db.one.log<Line>({ name }), db.other.log<Line>({ name })]);
      const missed: number[] = [];
      let received = 0;
      void (async () => {
        for await (const entries of watchedFeed.watch('all', { after: 0, signal: ended.signal })) {
          for (const { text } of entries) {
            if ((await elsewhere.last('s')) < Number(text)) {
              missed.push(Number(text));
            }
          }
          received += entries.length;
        }
      })();
      const notice = { log: feed, scope: 'all', entry: (last: number) => ({ text: String(last) }) };
      for (let n = 0; n < 50; n += 1) {
        await log.appendWithNotice('s', [{ text: 'x' }], notice);
      }
      await eventually(() => expect(received).toBe(50));
      expect(missed).toEqual([]);
    });

    describe('with a last entry', () => {
      let sealed: { one: EntryLog<Line>; other: EntryLog<Line> };
      beforeEach(async () => {
        const spec = { name: uniqueName(), sealKey: 'end' };
        const [one, other] = await Promise.all([db.one.log<Line>(spec), db.other.log<Line>(spec)]);
        sealed = { one, other };
      });
      const texts = async () => (await sealed.one.read('s', 0, 1_000)).map(({ text }) => text);

      it('refuses what is new after it, and numbers what is repeated as before', async () => {
        expect(await sealed.one.append('s', [{ text: 'a', dedupeKey: 'a' }])).toEqual([1]);
        expect(await sealed.one.append('s', [{ text: 'end', dedupeKey: 'end' }])).toEqual([2]);
        await expect(sealed.other.append('s', [{ text: 'late' }])).rejects.toThrow(SealedScopeError);
        await expect(sealed.one.append('s', [{ text: 'late', dedupeKey: 'late' }])).rejects.toThrow(SealedScopeError);
        const again = [
          { text: 'a', dedupeKey: 'a' },
          { text: 'end', dedupeKey: 'end' },
        ];
        expect(await sealed.other.append('s', again)).toEqual([1, 2]);
        expect(await texts()).toEqual(['a', 'end']);
        expect(await sealed.one.append('another', [{ text: 'x' }])).toEqual([1]);
      });

      it('keeps nothing behind it of one batch, or of appends at the same time', async () => {
        const batch = [{ text: 'end', dedupeKey: 'end' }, { text: 'behind' }];
        await expect(sealed.one.append('batch', batch)).rejects.toThrow(SealedScopeError);
        expect((await sealed.one.read('batch', 0, 10)).map(({ text }) => text)).not.toContain('behind');

        const appends = numbers(40).map((n) =>
          (n % 2 ? sealed.one : sealed.other).append('s', [
            n === 20 ? { text: 'end', dedupeKey: 'end' } : { text: `line ${n}` },
          ]),
        );
        const settled = await Promise.allSettled(appends);
        const appended = settled.filter(({ status }) => status === 'fulfilled').length;
        const all = await texts();
        expect(all).toHaveLength(appended);
        expect(all.at(-1)).toBe('end');
      });
    });

    it('numbers entries from 1, in the order they are given, each scope for itself', async () => {
      expect(await log.last('s')).toBe(0);
      expect(await log.append('s', [{ text: 'a' }, { text: 'b' }])).toEqual([1, 2]);
      expect(await elsewhere.append('s', [{ text: 'c' }])).toEqual([3]);
      expect(await log.append('other', [{ text: 'x' }])).toEqual([1]);
      expect(await log.append('s', [])).toEqual([]);
      expect(await log.last('s')).toBe(3);
      expect(await log.read('s', 0, 2)).toEqual([
        { scope: 's', sequence: 1, text: 'a' },
        { scope: 's', sequence: 2, text: 'b' },
      ]);
      expect(await log.read('s', 2, 10)).toEqual([{ scope: 's', sequence: 3, text: 'c' }]);
      expect(await log.read('s', 3, 10)).toEqual([]);
      expect(await log.read('s', 0, 0)).toEqual([]);
    });

    it('stores any JSON in an entry', async () => {
      const payload: unknown = JSON.parse(
        '{"$set":{"a.b":1},"__proto__":{"x":1},"constructor":null,"deep":[{"":"\\u0000"}]}',
      );
      await log.append('s', [{ text: 'a', payload }]);
      const [entry] = await log.read('s', 0, 1);
      expect(JSON.stringify(entry!.payload)).toBe(JSON.stringify(payload));
      await expect(log.append('s', [{ text: 'a', payload: { 'x\0': 1 } }])).rejects.toThrow(InvalidOperationError);
    });

    it('has no gap, duplicate or disorder under concurrent appenders', async () => {
      const writers = 20;
      const rounds = 10;
      const given = await Promise.all(
        Array.from({ length: writers }, async (_, writer) => {
          const own: number[] = [];
          for (let round = 0; round < rounds; round += 1) {
            const entries = [{ text: `${writer}.${round}.0` }, { text: `${writer}.${round}.1` }];
            own.push(...(await (writer % 2 === 0 ? log : elsewhere).append('s', entries)));
          }
          return own;
        }),
      );
      const total = writers * rounds * 2;
      expect(given.flat().sort((a, b) => a - b)).toEqual(numbers(total));
      for (const own of given) {
        expect(own).toEqual([...own].sort((a, b) => a - b));
      }
      const entries = await log.read('s', 0, total + 1);
      expect(entries.map(({ sequence }) => sequence)).toEqual(numbers(total));
      given.forEach((own, writer) => {
        own.forEach((sequence, at) => {
          expect(entries[sequence - 1]!.text).toBe(`${writer}.${Math.floor(at / 2)}.${at % 2}`);
        });
      });
    });

    it('appends an entry with a known key once', async () => {
      expect(await log.append('s', [{ text: 'a', dedupeKey: 'k1' }])).toEqual([1]);
      const again = [
        { text: 'b', dedupeKey: 'k2' },
        { text: 'again', dedupeKey: 'k1' },
        { text: 'c' },
        { text: 'again', dedupeKey: 'k2' },
      ];
      expect(await elsewhere.append('s', again)).toEqual([2, 1, 3, 2]);
      expect(await log.append('other', [{ text: 'x', dedupeKey: 'k1' }])).toEqual([1]);
      const entries = await log.read('s', 0, 10);
      expect(entries.map(({ text, dedupeKey }) => [text, dedupeKey])).toEqual([
        ['a', 'k1'],
        ['b', 'k2'],
        ['c', undefined],
      ]);
    });

    it('appends an entry once however many try at the same time', async () => {
      const tries = Array.from({ length: 40 }, (_, at) =>
        (at % 2 === 0 ? log : elsewhere).append('s', [{ text: 'own' }, { text: 'shared', dedupeKey: `k${at % 4}` }]),
      );
      await Promise.all(tries);
      const entries = await log.read('s', 0, 1000);
      expect(entries.map(({ sequence }) => sequence)).toEqual(numbers(44));
      expect(entries.filter(({ text }) => text === 'shared')).toHaveLength(4);
    });

    it('notifies watchers of every connection of present and new entries', async () => {
      await log.append('s', [{ text: 'a' }, { text: 'b' }]);
      const here = watch(log, 's');
      const there = watch(elsewhere, 's');
      const later = watch(elsewhere, 's', 2);
      await log.append('unwatched', [{ text: 'x' }]);
      for (let at = 3; at <= 50; at += 1) {
        await log.append('s', [{ text: `t${at}` }]);
      }
      await elsewhere.append('s', [{ text: 'last' }]);
      await eventually(() => {
        expect(here.map(({ sequence }) => sequence)).toEqual(numbers(51));
        expect(there.map(({ sequence }) => sequence)).toEqual(numbers(51));
        expect(later.map(({ sequence }) => sequence)).toEqual(numbers(51).slice(2));
      });
      expect(there[50]).toEqual({ scope: 's', sequence: 51, text: 'last' });
    });

    it('wakes a sleeping watcher of another connection', async () => {
      const received = watch(elsewhere, 's');
      await log.append('s', [{ text: 'a' }]);
      await eventually(() => expect(received).toHaveLength(1));
      await log.append('s', [{ text: 'b' }]);
      await eventually(() => expect(received).toHaveLength(2));
    });

    it('ends a watch when its signal aborts, also one that begins aborted', async () => {
      const watching = log.watch('s', { after: 0, signal: ended.signal })[Symbol.asyncIterator]();
      const next = watching.next();
      ended.abort();
      expect((await next).done).toBe(true);
      const late = log.watch('s', { after: 0, signal: AbortSignal.abort() })[Symbol.asyncIterator]();
      expect((await late.next()).done).toBe(true);
    });

    it('ends a watch when the database closes', async () => {
      const own = await harness.open();
      const ownLog = await own.log<Line>({ name: uniqueName() });
      const next = ownLog.watch('s', { after: 0, signal: ended.signal })[Symbol.asyncIterator]().next();
      await own.close();
      expect((await next).done).toBe(true);
    });
  });
}
