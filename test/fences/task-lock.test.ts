import { mkdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import {
  FileChangedError,
  moveFile,
  removeFile,
  replaceFile,
  sweepTemporaryFiles,
} from '../../stores/board-files/format/durable-file';
import { fingerprintOf, statOf } from '../../stores/board-files/format/read-task-file';
import { actor, boardHarness } from '../stores/board-files/harness';

let dir: TempDir;
beforeEach(async () => {
  dir = await makeTempDir('durable');
});
afterEach(() => dir.remove());

const path = (name = 'a.md') => join(dir.path, name);
const signature = async () => fingerprintOf((await statOf(path()))!).signature;
const noCheck = () => undefined;

describe('replacing a file', () => {
  it('asks right before the change becomes visible, and leaves everything as it was when that refuses', async () => {
    await writeFile(path(), 'old');
    const seen = await signature();
    const refuse = () => {
      expect(readFileSync(path(), 'utf8')).toBe('old');
      throw new Error('not held');
    };
    await expect(replaceFile(path(), 'new', { seen, beforeCommit: refuse })).rejects.toThrow('not held');
    expect(await readdir(dir.path)).toEqual(['a.md']);
    expect(await readFile(path(), 'utf8')).toBe('old');
  });

  it.each([
    ['was changed', 'other text', () => signature()],
    ['is there although it was not', 'old', async () => undefined],
  ])('refuses one that %s', async (_, now, seen) => {
    await writeFile(path(), 'old');
    const read = await seen();
    await writeFile(path(), now);
    utimesSync(path(), 1, 1);
    await expect(replaceFile(path(), 'new', { seen: read, beforeCommit: noCheck })).rejects.toThrow(FileChangedError);
    expect(await readFile(path(), 'utf8')).toBe(now);
    expect(await readdir(dir.path)).toEqual(['a.md']);
  });

  it('refuses one that is gone, and one whose new name is taken', async () => {
    await expect(replaceFile(path(), 'new', { seen: 'something', beforeCommit: noCheck })).rejects.toThrow(
      FileChangedError,
    );
    await writeFile(path(), 'a');
    await writeFile(path('b.md'), 'b');
    await expect(moveFile(path(), path('b.md'))).rejects.toThrow(FileChangedError);
    expect(await readFile(path('b.md'), 'utf8')).toBe('b');
  });
});

describe('removing a file', () => {
  it('asks right before it is gone, and leaves it when that refuses', async () => {
    await writeFile(path(), 'old');
    const refuse = () => {
      expect(readFileSync(path(), 'utf8')).toBe('old');
      throw new Error('not held');
    };
    await expect(removeFile(path(), await signature(), refuse)).rejects.toThrow('not held');
    expect(await readFile(path(), 'utf8')).toBe('old');
    await removeFile(path(), await signature(), noCheck);
    expect(await readdir(dir.path)).toEqual([]);
  });

  it('refuses another one than was seen, and one that is gone', async () => {
    await writeFile(path(), 'old');
    const seen = await signature();
    await writeFile(path(), 'other text');
    utimesSync(path(), 1, 1);
    await expect(removeFile(path(), seen, noCheck)).rejects.toThrow(FileChangedError);
    expect(await readFile(path(), 'utf8')).toBe('other text');
    rmSync(path());
    await expect(removeFile(path(), seen, noCheck)).rejects.toThrow(FileChangedError);
  });
});

it('what dead processes left of writes is swept, and neither a young one nor a task', async () => {
  const left = (n: number) => `.a.md.${n}-0123456789ab.tmp`;
  const hourAgo = new Date(Date.now() - 3_600_000);
  for (const name of [left(1), left(2), 'a.md']) {
    await writeFile(path(name), 'x');
  }
  for (const name of [left(1), 'a.md']) {
    utimesSync(path(name), hourAgo, hourAgo);
  }
  await sweepTemporaryFiles(dir.path);
  expect((await readdir(dir.path)).sort()).toEqual([left(2), 'a.md']);
});

it('a writer that was stopped until its lock was another one writes nothing', async () => {
  const harness = await boardHarness();
  try {
    const board = await harness.open();
    const { id } = await board.create({ title: 'a' }, { actor });
    const lock = join(harness.dir, '.locks', `${id}.lock`);
    const stopped = board.update(
      id,
      () => {
        // Stopped here, under the lock, past the time at which it is renewed; it is another one's when this wakes.
        expect(statSync(lock).isDirectory()).toBe(true);
        rmSync(lock, { recursive: true });
        mkdirSync(lock);
        utimesSync(lock, new Date(), new Date(Date.now() + 60_000));
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_200);
        return { title: 'late' };
      },
      { actor },
    );
    await expect(stopped).rejects.toMatchObject({ code: 'TASK_BUSY', status: 503 });
    expect((await harness.files()).some((name) => name.includes('late'))).toBe(false);
    expect(await harness.read(`active/${id}-a.md`)).toContain('title: a');
    rmSync(lock, { recursive: true, force: true });
    expect(await board.update(id, () => ({ title: 'b' }), { actor })).toMatchObject({ title: 'b', revision: 2 });
  } finally {
    await harness.close();
  }
});

it('a lock that a dead process left before the clock was set back is taken over, and that of a living one is not', async () => {
  const harness = await boardHarness();
  try {
    const board = await harness.open();
    const { id } = await board.create({ title: 'a' }, { actor });
    const lock = join(harness.dir, '.locks', `${id}.lock`);
    mkdirSync(lock, { recursive: true });
    let aheadMs = 3_600_000;
    const date = () => utimesSync(lock, new Date(), new Date(Date.now() + aheadMs));
    date();
    const refreshing = setInterval(() => {
      aheadMs += 1;
      date();
    }, 1_000);
    await expect(board.update(id, () => ({ title: 'b' }), { actor })).rejects.toMatchObject({ code: 'TASK_BUSY' });
    clearInterval(refreshing);
    expect(await board.update(id, () => ({ title: 'c' }), { actor })).toMatchObject({ title: 'c', revision: 2 });
  } finally {
    await harness.close();
  }
}, 30_000);
