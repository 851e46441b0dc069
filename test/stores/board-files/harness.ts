import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Task } from '../../../contracts/tasks/task';
import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { type Board, type BoardChange, type BoardOptions, createBoard } from '../../../stores/board-files/board';

export const actor = 'service:test';

/** A board directory of a test's own, and what was opened on it. */
export interface BoardHarness {
  dir: string;
  /** Opens one more board on the directory, as another replica would. */
  open(options?: Partial<BoardOptions>): Promise<Board>;
  /** The names of the files in a folder, hidden ones too. */
  files(location?: string): Promise<string[]>;
  read(path: string): Promise<string>;
  /** Writes as an editor does that knows nothing of the board. */
  write(path: string, text: string): Promise<void>;
  close(): Promise<void>;
}

export async function boardHarness(): Promise<BoardHarness> {
  const temp: TempDir = await makeTempDir('board');
  const dir = join(temp.path, 'tasks');
  const boards: Board[] = [];
  return {
    dir,
    open: async (options) => {
      const log = createLog({ name: 'test', level: 'silent' });
      const board = await createBoard({ dir, log, ...options });
      boards.push(board);
      return board;
    },
    files: async (location = 'active') => (await readdir(join(dir, location))).sort(),
    read: (path) => readFile(join(dir, path), 'utf8'),
    write: (path, text) => writeFile(join(dir, path), text),
    close: async () => {
      await Promise.all(boards.map((board) => board.close()));
      await temp.remove();
    },
  };
}

/** Collects what listeners receive, one line per change. */
export function recordChanges(board: Board): { lines: string[]; changes: BoardChange[] } {
  const changes: BoardChange[] = [];
  const lines: string[] = [];
  board.onChange((change) => {
    changes.push(change);
    lines.push([change.kind, change.taskId, change.location, change.task?.revision].filter(Boolean).join(' '));
  });
  return { lines, changes };
}

/** The text of a minimal task file as a person would write it. */
export const fileText = (fields: Partial<Task> & { id: string }, body = ''): string =>
  `---\n${Object.entries(fields)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join('')}---\n${body}`;
