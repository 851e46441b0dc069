import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DiskFullError } from '../../../platform/errors/disk-full';
import { fileDestination, openLogFile } from '../../../platform/log/file-destination';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { readExit, startHolder } from '../../../providers/agents/detached/holder';
import { createSpool, droppedOf, restOf } from '../../../providers/agents/detached/spool';
import { openFileBlobs } from '../../../stores/blobs/files';
import { createBoard } from '../../../stores/board-files/board';
import { openSqlite } from '../../../stores/sqlite/database';
import { fill } from './fill';

/** What becomes of writes on a disk that is full; run on one of its own, which is the first argument. */
const disk = process.argv[2] ?? '';
const log = createLog({ name: 'full-disk', level: 'silent' });
const filler = join(disk, 'filler');

const failureOf = (write: () => Promise<unknown>): Promise<string> =>
  write().then(
    () => 'none',
    (error: unknown) => {
      if (error instanceof DiskFullError) {
        return error.where;
      }
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
  const script = `while [ ! -e ${join(disk, 'go')} ]; do sleep 0.02; done; printf 'said while full'; exit 7`;
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
    if (!readdirSync(spool.path).includes('begun')) {
      throw new Error('not begun');
    }
  });
  writeFileSync(join(disk, 'go.draft'), '');
  const logFile = join(disk, 'part.log');
  const partLog = createLog({ name: 'part', level: 'info' }, fileDestination(openLogFile(logFile)));
  fill(filler);
  const beforeLines = statSync(logFile).size;
  partLog.info({ text: 'x'.repeat(9_000) }, 'long');
  // Pino waits for space without end after a fatal line.
  partLog.fatal('while full');
  for (let line = 0; line < 300; line += 1) {
    partLog.info({ text: 'x'.repeat(1_000) }, 'more');
  }
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
    if (!ended) {
      throw new Error('no end yet');
    }
    return ended;
  });
  const output = await eventually(async () => {
    const rest = await restOf(spool.out);
    if (!rest || rest.length === 0) {
      throw new Error('not copied yet');
    }
    return { rest: rest.toString(), dropped: (await droppedOf(spool.out)) ?? 'nothing' };
  });
  const unwritten = statSync(logFile).size - beforeLines;
  rmSync(filler);
  partLog.info('after');
  const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n');
  const logged = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  const lost = lines.map((line) => (JSON.parse(line) as { lost?: number }).lost ?? 0).find((count) => count > 0) ?? 0;
  const kept = [logged[0], logged[1], logged.at(-1)];
  const after = {
    create: await failureOf(() => board.create({ title: 'Space again' }, { actor: 'test' })),
    record: await failureOf(() => records.insert({ _id: 'a', text: 'short' })),
  };
  await board.close();
  await database.close();
  process.stdout.write(
    JSON.stringify({
      failures,
      left,
      unchanged,
      exit,
      output,
      after,
      log: { unwritten: unwritten < 9_000, kept, all: logged.length - 1 + lost },
    }),
  );
}

void main();
