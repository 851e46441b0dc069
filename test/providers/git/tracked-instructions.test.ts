import { mkdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { trackedInstructions } from '../../../providers/git/repository/tracked-instructions';
import { createGitRunner, type GitRunner } from '../../../providers/git/run-git';
import { commit, put, sh } from './git-fixture';

let directory: TempDir;
let path: string;
let started: number;

let counting: GitRunner;

describe('tracked instructions', () => {
  beforeEach(async () => {
    directory = await makeTempDir('tracked');
    path = join(directory.path, 'repository');
    await mkdir(path);
    const git = createGitRunner({
      settingsDir: join(directory.path, 'settings'),
      timeoutMs: 10_000,
      lockWaitMs: 1_000,
    });
    counting = Object.assign((...call: Parameters<GitRunner>) => {
      started += 1;
      return git(...call);
    }, git);
    started = 0;
    await sh(path, 'init', '-q', '-b', 'main');
    await put(path, { 'AGENTS.md': 'one\n', 'src/index.ts': '\n' });
    await commit(path, 'first');
  });
  afterEach(() => directory.remove());

  /** Lists until git is not asked any more, and returns the function that lists. */
  async function remembering() {
    const list = trackedInstructions(counting);
    const tracked = () => list({ path, gitDir: join(path, '.git') });
    await eventually(async () => {
      const before = started;
      await tracked();
      if (started > before) {
        throw new Error('git was asked');
      }
    });
    return tracked;
  }

  test('git is asked once for an index that stays as it is, and again for another', async () => {
    const tracked = await remembering();
    const asked = started;
    expect(await tracked()).toEqual(['AGENTS.md']);
    expect(started).toBe(asked);
    await put(path, { 'src/CLAUDE.md': 'two\n' });
    expect(await tracked()).toEqual(['AGENTS.md']);
    await sh(path, 'add', '-A');
    expect(await tracked()).toEqual(['AGENTS.md', 'src/CLAUDE.md']);
  });

  test('an index that is written into is another one, whatever its modification time', async () => {
    const index = join(path, '.git/index');
    const first = await readFile(index);
    await sh(path, 'mv', 'AGENTS.md', 'CLAUDE.md');
    await commit(path, 'second');
    const second = await readFile(index);
    const tracked = await remembering();
    expect(await tracked()).toEqual(['CLAUDE.md']);
    const { atime, mtime } = await stat(index);
    expect(first.length).toBe(second.length);
    await writeFile(index, first);
    await utimes(index, atime, mtime);
    expect(await tracked()).toEqual(['AGENTS.md']);
  });
});
