/** A replica of its own process: `child.ts <boardDir> <what> …`; reports one JSON line per step on standard output. */
import files from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Task } from '../../../contracts/tasks/task';
import { createLog } from '../../../platform/log/log';
import { createBoard } from '../../../stores/board-files/board';
import { createTaskLocks } from '../../../stores/board-files/task-locks';

const [dir = '', what = '', id = '', count = '0'] = process.argv.slice(2);
const log = createLog({ name: 'child', level: 'silent' });
const print = (line: unknown): boolean => process.stdout.write(`${JSON.stringify(line)}\n`);

/** Adds one to the field `points`, `count` times, by reading and writing. */
async function increment(): Promise<void> {
  const board = await createBoard({ dir, log });
  print('ready');
  for (let n = 0; n < Number(count); n += 1) {
    const next = (points: unknown): number => (typeof points === 'number' ? points : 0) + 1;
    const task = await board.update(id, (current) => ({ points: next(current.points) }), { actor: 'service:child' });
    print({ revision: task.revision, points: task.points });
  }
  await board.close();
}

/** Changes the title, and so the file name, until it is killed. */
async function rename(): Promise<void> {
  const board = await createBoard({ dir, log });
  print('ready');
  for (let n = 0; ; n += 1) {
    const task = await board.update(id, () => ({ title: `Title ${n}`, description: 'x'.repeat(50_000) }), {
      actor: 'service:child',
    });
    print({ revision: task.revision });
  }
}

/** Moves the task between the archive and the board, `count` times or until it is killed. */
async function shuttle(): Promise<void> {
  const board = await createBoard({ dir, log });
  print('ready');
  for (let n = 1; count === '0' || n <= Number(count); n += 1) {
    const options = { actor: 'service:child', operation: 'shuttle' };
    const fields = (moves: unknown) => ({ moves: (typeof moves === 'number' ? moves : 0) + 1 });
    const task = await board.move(id, (current) => fields(current.moves), {
      to: n % 2 ? 'archive' : 'active',
      ...options,
    });
    print({ revision: task.revision });
  }
  await board.close();
}

/** Promotes the task and is killed once its content is written and before its file is moved. */
async function halfPromote(): Promise<void> {
  const board = await createBoard({ dir, log });
  const { rename: reallyRename } = files;
  files.rename = async (from, to) => {
    if (dirname(String(from)) !== dirname(String(to))) {
      process.kill(process.pid, 'SIGKILL');
    }
    await reallyRename(from, to);
  };
  print('ready');
  await board.move(id, () => ({ status: 'todo' }), { to: 'active', actor: 'service:child', operation: 'promote' });
}

/** Takes a task's lock and never releases it. */
async function hold(): Promise<void> {
  await createTaskLocks(join(dir), log).exclusive(id, async () => {
    print('holding');
    await delay(600_000);
  });
}

/** Comments on the task from several callers at once, until it is killed. */
async function comment(): Promise<void> {
  const board = await createBoard({ dir, log });
  print('ready');
  const call = async (caller: number): Promise<void> => {
    for (let n = 0; ; n += 1) {
      const added = {
        id: `${caller}-${n}`,
        text: 'x'.repeat(500),
        author: 'anna',
        timestamp: '2026-01-01T00:00:00.000Z',
      };
      const change = ({ comments = [] }: Task) => ({ comments: [...comments, { ...added, revision: 1 }] });
      await board.update(id, change, { actor: 'service:child' });
      print({ comment: added.id });
    }
  };
  await Promise.all([1, 2, 3, 4, 5].map(call));
}

const work = { increment, rename, shuttle, halfPromote, hold, comment }[what];
if (!work) {
  throw new Error(`unknown work ${what}`);
}
void work();
