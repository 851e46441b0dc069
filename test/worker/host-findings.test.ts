import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { createHostFindings } from '../../providers/git/host-findings';

describe('findings of a host', () => {
  let directory: TempDir;
  const at = (...names: string[]) => join(directory.path, ...names);

  beforeEach(async () => {
    directory = await makeTempDir('host-findings');
    await mkdir(at('bin'));
  });
  afterEach(() => directory.remove());

  /** A git that only knows its version. */
  async function installGit(version: string): Promise<void> {
    await writeFile(at('bin', 'git'), `#!/bin/sh\necho 'git version ${version}'\n`);
    await chmod(at('bin', 'git'), 0o755);
  }
  const find = (worktreeDir = at('worktrees')) => createHostFindings(worktreeDir, { PATH: at('bin') })();

  it('are none with the git and the directory that there are', async () => {
    expect(await createHostFindings(at('worktrees'))()).toEqual([]);
  });

  it('name the directories in which git was searched', async () => {
    expect(await find()).toEqual([
      {
        code: 'git-missing',
        message: 'The worker finds no git on its PATH.',
        program: 'git',
        searched: [at('bin')],
        remedy: expect.stringContaining('Install git 2.38'),
      },
    ]);
  });

  it.each([
    ['2.37.9', ['git-too-old']],
    ['1.99', ['git-too-old']],
    ['2.38.0', []],
    ['2.100.1 (Apple Git-1)', []],
    ['3.0', []],
  ])('of git %s are %j', async (version, codes) => {
    await installGit(version);
    const found = await find();
    expect(found.map(({ code }) => code)).toEqual(codes);
    expect(found.map(({ path }) => path)).toEqual(codes.map(() => at('bin', 'git')));
  });

  it('notice a git that is replaced', async () => {
    const findings = createHostFindings(at('worktrees'), { PATH: at('bin') });
    await installGit('2.30.0');
    expect(await findings()).toMatchObject([{ code: 'git-too-old' }]);
    await installGit('2.50.10');
    expect(await findings()).toEqual([]);
  });

  it('name what is in the way of the directory for worktrees', async () => {
    await installGit('2.50.1');
    await writeFile(at('data'), 'a file');
    expect(await find(at('data', 'worktrees'))).toMatchObject([
      {
        code: 'worktree-root-not-writable',
        message: `No worktree can be made in ${at('data', 'worktrees')}: ${at('data')} is not a directory.`,
        path: at('data'),
        remedy: expect.stringContaining('BOARD_DATA_DIR'),
      },
    ]);
  });
});
