import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readExit, startHolder } from '../../../providers/agents/held/holder';
import { createSpool } from '../../../providers/agents/held/spool';
import { DiskFullError } from '../../../platform/errors/disk-full';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { openFileBlobs } from '../../../stores/blobs/files';
import { createBoard } from '../../../stores/board-files/board';
import { openSqlite } from '../../../stores/sqlite/database';

/** What becomes of writes on a disk that is full; run on one of its own, which is the first argument. */
const disk = process.argv[2] ?? '';
const log = createLog({ name: 'full-disk', level: 'silent' });
const filler = join(disk, 'filler');

function fill(): void {
  for (let bytes = 65_536; bytes >= 1; bytes = Math.floor(bytes / 4)) {
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' });
    } catch {
      // Smaller pieces may still fit.
    }
  }
}

const failureOf = (write: () => Promise<unknown>): Promise<string> =>
  write().then(
    () => 'none',
    (error: unknown) => {
      if (error instanceof DiskFullError) return error.where;
      return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    },
  );

async function main(): Promise<void> {
  const board = await createBoard({ dir: join(disk, 'tasks'), log, rescanMs: 60_000 });
  const blobs = await openFileBlobs(join(disk, 'blobs'));
  const database = await openSqlite({ file: join(disk, 'store.sqlite'), log });
  const records = await database.collection<{ _id: string; text: string }>({ name: 'records' });
  const task = await board.create({ title: 'Before' }, { actor: 'test' });
  const spool = await createSpool(join(disk, 'spool'), 'binding');
  const script = `while [ ! -e ${join(disk, 'go')} ]; do sleep 0.02; done; exit 7`;
  await startHolder(
    spool,
    {
      path: '/bin/sh',
      args: ['-c', script],
      cwd: disk,
      env: { PATH: process.env.PATH },
    } as never,
    1_048_576,
  );
  await eventually(() => {
    if (!readdirSync(spool.path).includes('begun')) throw new Error('not begun');
  });
  writeFileSync(join(disk, 'go.draft'), '');
  fill();
  const failures = {
    create: await failureOf(() => board.create({ title: 'On a full disk' }, { actor: 'test' })),
    update: await failureOf(() =>
      board.update(task.id, () => ({ description: 'x'.repeat(20_000) }), { actor: 'test' }),
    ),
    blob: await failureOf(() => blobs.put(Buffer.alloc(20_000, 1))),
    record: await failureOf(() => records.insert({ _id: 'a', text: 'x'.repeat(200_000) })),
  };
  const left = readdirSync(join(disk, 'tasks', 'active')).filter((name) => name.endsWith('.tmp'));
  const unchanged = (await board.get(task.id))?.task.revision === 1;
  // The name was made before; renaming takes no space.
  const { renameSync } = await import('node:fs');
  renameSync(join(disk, 'go.draft'), join(disk, 'go'));
  const exit = await eventually(async () => {
    const ended = await readExit(spool);
    if (!ended) throw new Error('no end yet');
    return ended;
  });
  rmSync(filler);
  const after = {
    create: await failureOf(() => board.create({ title: 'Space again' }, { actor: 'test' })),
    record: await failureOf(() => records.insert({ _id: 'a', text: 'short' })),
  };
  await board.close();
  await database.close();
  process.stdout.write(JSON.stringify({ failures, left, unchanged, exit, after }));
}

void main();
