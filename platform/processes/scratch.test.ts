import { existsSync } from 'node:fs';
import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { makeTempDir, type TempDir } from '../testing/temp-dir';
import { removeAbandonedScratch, withScratchDirectory } from './scratch';

describe('scratch directories', () => {
  let parent: TempDir;
  const { TMPDIR } = process.env;

  beforeEach(async () => {
    parent = await makeTempDir('scratch');
    process.env.TMPDIR = parent.path;
  });

  afterEach(async () => {
    if (TMPDIR === undefined) {
      delete process.env.TMPDIR;
    } else {
      process.env.TMPDIR = TMPDIR;
    }
    await parent.remove();
  });

  test('are removed with what is in them, also when their use fails', async () => {
    let path = '';
    const use = async (directory: string) => {
      path = directory;
      await writeFile(join(directory, 'file'), '');
      throw new Error('failed');
    };
    await expect(withScratchDirectory('example', use)).rejects.toThrow('failed');
    expect(basename(path)).toMatch(/^runboard-scratch-example-/);
    expect(existsSync(path)).toBe(false);
  });

  test('of a killed process are removed after an hour; others stay', async () => {
    const old = join(tmpdir(), 'runboard-scratch-diff-old');
    const recent = join(tmpdir(), 'runboard-scratch-diff-recent');
    const foreign = join(tmpdir(), 'another-old');
    const link = join(tmpdir(), 'runboard-scratch-link');
    for (const directory of [old, recent, foreign]) {
      await mkdir(directory);
    }
    await writeFile(join(old, 'file'), '');
    await symlink(foreign, link);
    const twoHoursAgo = Date.now() / 1_000 - 7_200;
    await utimes(old, twoHoursAgo, twoHoursAgo);
    await utimes(foreign, twoHoursAgo, twoHoursAgo);
    await expect(removeAbandonedScratch(() => Date.now())).resolves.toEqual([old]);
    expect([recent, foreign, link].every((path) => existsSync(path))).toBe(true);
    await expect(removeAbandonedScratch(() => Date.now() + 3_700_000)).resolves.toEqual([recent]);
  });
});
