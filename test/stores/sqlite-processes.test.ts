import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { createLog } from '../../platform/log/log';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import type { Database, LogEntry } from '../../stores/port/collection';
import { openSqlite } from '../../stores/sqlite/database';

const support = resolve(__dirname, '../support');

interface Writer {
  child: ChildProcess;
  /** What the store has acknowledged to it so far. */
  acknowledged: string[];
}

describe('sqlite in several processes', () => {
  let directory: TempDir;
  let database: Database;
  let writers: Writer[];
  const file = () => join(directory.path, 'store.sqlite');

  beforeEach(async () => {
    directory = await makeTempDir('processes');
    database = await openSqlite({ file: file(), log: createLog({ name: 'test', level: 'fatal' }) });
    writers = [];
  });
  afterEach(async () => {
    await Promise.all(writers.map(kill));
    await database.close();
    await directory.remove();
  });

  /** Starts a child process that writes; resolves once it has opened the store. */
  async function startWriter(name: string, mode: string): Promise<Writer> {
    const register = join(support, 'register-ts.cjs');
    const args = ['-r', register, join(support, 'processes', 'store-writer.ts'), file(), name, mode];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const writer: Writer = { child, acknowledged: [] };
    writers.push(writer);
    const lines = createInterface({ input: child.stdout });
    const ready = once(lines, 'line');
    await ready;
    lines.on('line', (line) => writer.acknowledged.push(line));
    return writer;
  }

  async function kill({ child }: Writer): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) {
      return;
    }
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  }

  it('loses nothing that was acknowledged when writers are killed at any moment', async () => {
    const documents = await database.collection<{ _id: string }>({ name: 'documents' });
    const log = await database.log<LogEntry & { by: string }>({ name: 'lines' });
    for (let round = 0; round < 4; round += 1) {
      const pair = await Promise.all([startWriter(`w${round}`, 'insert'), startWriter(`a${round}`, 'append')]);
      await eventually(() => {
        for (const { acknowledged } of pair) {
          expect(acknowledged.length).toBeGreaterThan(100 + round * 37);
        }
      });
      await Promise.all(pair.map(kill));
    }

    for (const { acknowledged } of writers.filter((_, at) => at % 2 === 0)) {
      for (let start = 0; start < acknowledged.length; start += 500) {
        const ids = acknowledged.slice(start, start + 500);
        expect(await documents.count({ _id: { $in: ids } })).toBe(ids.length);
      }
    }
    const last = await log.last('s');
    const entries = await log.read('s', 0, last);
    expect(entries.map(({ sequence }) => sequence)).toEqual(Array.from({ length: last }, (_, at) => at + 1));
    writers.forEach(({ acknowledged }, at) => {
      if (at % 2 === 0) {
        return;
      }
      const by = `a${(at - 1) / 2}`;
      for (const sequence of acknowledged) {
        expect(entries[Number(sequence) - 1]).toMatchObject({ by });
      }
    });
  });

  it('counts exactly when four processes count at once', async () => {
    const documents = await database.collection<{ _id: string; count: number }>({ name: 'documents' });
    const counting = await Promise.all(['a', 'b', 'c'].map((name) => startWriter(name, '60')));
    const own = async () => {
      for (let at = 0; at < 60; at += 1) {
        await documents.findOneAndUpdate({ _id: 'counter' }, { $inc: { count: 1 } }, { upsert: true });
      }
    };
    await Promise.all(Array.from({ length: 5 }, own));
    await eventually(() =>
      expect(counting.map(({ acknowledged }) => acknowledged)).toEqual([['done'], ['done'], ['done']]),
    );
    expect((await documents.get('counter'))!.count).toBe(4 * 5 * 60);
  });

  it('receives what another process appends, gapless, while that process is killed and replaced', async () => {
    const log = await database.log<LogEntry & { by: string }>({ name: 'lines' });
    const received: number[] = [];
    const ended = new AbortController();
    const watching = (async () => {
      for await (const entries of log.watch('s', { after: 0, signal: ended.signal })) {
        received.push(...entries.map(({ sequence }) => sequence));
      }
    })();
    for (const name of ['x', 'y']) {
      const writer = await startWriter(name, 'append');
      const before = received.length;
      await eventually(() => expect(received.length).toBeGreaterThan(before + 100));
      await kill(writer);
    }
    const last = await log.last('s');
    await eventually(() => expect(received).toHaveLength(last));
    ended.abort();
    await watching;
    expect(received).toEqual(Array.from({ length: last }, (_, at) => at + 1));
  });
});
