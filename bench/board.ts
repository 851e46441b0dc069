/**
 * What a board of task files costs on this machine: `npm run build && node dist/bench/board.js`. Every write is synced
 * to disk, so the figures are those of the disk under the system's temporary folder, beside those of a bare loop there that
 * writes, syncs and renames a file of the same size. `BENCH_TASKS=1000,5000` are the sizes of the board.
 */
import { readdir, readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import type { Task } from '../contracts/tasks/task';
import { createLog } from '../platform/log/log';
import { makeTempDir } from '../platform/testing/temp-dir';
import { type Board, createBoard } from '../stores/board-files/board';
import { eachLimited } from '../stores/board-files/format/each-limited';
import { sizesOf } from './fleet/sizes';
import { bareFile, replaceBare } from './floor/files';

const actor = 'service:bench';
const log = createLog({ name: 'bench', level: 'warn' });
const description = 'Some sentences that say what is to be done, and why. '.repeat(10);

/** Runs `work` on 0 … times-1 and returns how many a second were done. */
async function perSecond(times: number, work: (n: number) => unknown, atOnce = 1): Promise<number> {
  const started = performance.now();
  const once = async (n: number): Promise<void> => {
    await work(n);
  };
  await eachLimited(atOnce, [...Array(times).keys()], once);
  return Math.round((times / (performance.now() - started)) * 1000);
}

async function fill(board: Board, size: number): Promise<Task[]> {
  const tasks: Task[] = [];
  const statuses = ['todo', 'in-progress', 'blocked', 'done'] as const;
  const make = async (n: number): Promise<void> => {
    const status = statuses[n % statuses.length];
    tasks.push(await board.create({ title: `Task number ${n}`, description, status, project: `p${n % 7}` }, { actor }));
  };
  await eachLimited(16, [...Array(size).keys()], make);
  return tasks;
}

async function measure(size: number): Promise<Record<string, number>> {
  const temp = await makeTempDir('bench');
  const dir = join(temp.path, 'tasks');
  try {
    const first = await createBoard({ dir, log });
    const tasks = await fill(first, size);
    await first.close();

    const heapBefore = process.memoryUsage().heapUsed;
    const started = performance.now();
    const board = await createBoard({ dir, log });
    const startMs = Math.round(performance.now() - started);
    const heapMb = Math.round((process.memoryUsage().heapUsed - heapBefore) / 1e6);
    const idOf = (n: number): string => tasks[(n * 37) % tasks.length]?.id ?? '';
    const touch = (n: number): Promise<Task> => board.update(idOf(n), () => ({ position: n }), { actor });
    const [file] = await readdir(dir, { recursive: true, withFileTypes: true }).then((entries) =>
      entries.filter((entry) => entry.isFile() && entry.name.endsWith('.md')),
    );
    const text = file ? await readFile(join(file.parentPath, file.name), 'utf8') : '';
    const bare = (n: number): Promise<void> => replaceBare(bareFile(temp.path, n), text);
    const row = {
      tasks: size,
      'start ms': startMs,
      'heap MB': heapMb,
      'bare write, sync, rename/s': await perSecond(200, bare),
      'bare, 16 at once/s': await perSecond(500, bare, 16),
      'create/s': await perSecond(200, (n) => board.create({ title: `New ${n}`, description }, { actor })),
      'update/s': await perSecond(200, touch),
      'update/s, 16 at once': await perSecond(500, touch, 16),
      'get/s': await perSecond(2_000, (n) => board.get(idOf(n))),
      'list/s': await perSecond(1_000, () => board.list({})),
      'list by status and project/s': await perSecond(1_000, () =>
        board.list({ status: ['todo'], project: 'p1', limit: 50 }),
      ),
      'list by text/s': await perSecond(300, () => board.list({ q: 'number 12', limit: 50 })),
      'counts/s': await perSecond(1_000, () => board.counts()),
    };
    await board.close();
    const times = (bareRate: number, rate: number): number => Math.round((bareRate / rate) * 10) / 10;
    return {
      ...row,
      'create, times bare': times(row['bare write, sync, rename/s'], row['create/s']),
      'update, times bare': times(row['bare write, sync, rename/s'], row['update/s']),
      'update, 16 at once, times bare': times(row['bare, 16 at once/s'], row['update/s, 16 at once']),
    };
  } finally {
    await temp.remove();
  }
}

async function main(): Promise<void> {
  const rows: Record<string, number>[] = [];
  for (const size of sizesOf('BENCH_TASKS', [1_000, 5_000])) {
    rows.push(await measure(size));
  }
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
  const names = Object.keys(rows[0] ?? {}).filter((name) => name !== 'tasks');
  const columns = (name: string) => Object.fromEntries(rows.map((row) => [`${row.tasks} tasks`, row[name]]));
  console.table(Object.fromEntries(names.map((name) => [name, columns(name)])));
}

void main();
