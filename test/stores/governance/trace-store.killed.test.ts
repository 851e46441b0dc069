import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createTraceStore, type TraceStore } from '../../../stores/governance/trace-store';
import type { Database, Stored } from '../../../stores/port/collection';
import { openSqlite } from '../../../stores/sqlite/database';

const support = resolve(__dirname, '../../support');

describe('governance trace store when its processes are killed', () => {
  let dir: TempDir;
  let database: Database;
  let traces: TraceStore;
  let child: ChildProcess;
  beforeEach(async () => {
    dir = await makeTempDir('traces');
    database = await openSqlite({
      file: join(dir.path, 'store.sqlite'),
      log: createLog({ name: 't', level: 'silent' }),
    });
    traces = await createTraceStore(database);
  });
  afterEach(async () => {
    await kill();
    await database.close();
    await dir.remove();
  });

  /** Starts a process that stores traces until it is killed, and returns the ids that the store has acknowledged to it. */
  function startWriter(mode: 'traces' | 'file-traces'): string[] {
    const script = join(support, 'processes', 'store-writer.ts');
    const args = ['-r', join(support, 'register-ts.cjs'), script, join(dir.path, 'store.sqlite'), 'w', mode];
    child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const acknowledged: string[] = [];
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => acknowledged.push(line));
    return acknowledged;
  }

  async function kill(): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    }
  }

  /** Ids of those that searches find. */
  async function found(ids: readonly string[]): Promise<Set<string>> {
    await traces.list({ limit: 1 });
    const filed = await database.collection<Stored>({ name: 'governance-traces' });
    const all = new Set<string>();
    for (let start = 0; start < ids.length; start += 500) {
      const part = await filed.find({ _id: { $in: ids.slice(start, start + 500) } });
      part.forEach(({ _id }) => all.add(_id));
    }
    return all;
  }

  it.each(['traces', 'file-traces'] as const)('loses none that was acknowledged (%s)', async (mode) => {
    const acknowledged: string[] = [];
    for (const least of [60, 170, 310]) {
      const ids = startWriter(mode);
      await eventually(() => expect(ids.length).toBeGreaterThan(least));
      await kill();
      acknowledged.push(...ids.filter((id) => id.startsWith('trace_')));
    }
    const all = await found(acknowledged);
    expect(acknowledged.filter((id) => !all.has(id))).toEqual([]);
    const inbox = await database.collection<Stored>({ name: 'governance-trace-inbox' });
    expect(await inbox.find({}, { sort: { _id: 1 }, limit: 1 })).toEqual([]);
  });
});
