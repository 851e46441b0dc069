import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readLinkedWorktree } from '../../../../providers/git/worktrees/linked-worktree';
import { aWorktree, sh } from '../git-fixture';

let at: Awaited<ReturnType<typeof aWorktree>>;
let link: string;
let gitDir: string;

describe('replaced worktree locations', () => {
  beforeEach(async () => {
    at = await aWorktree();
    link = join(at.worktree, '.git');
    gitDir = (await sh(at.worktree, 'rev-parse', '--absolute-git-dir')).trim();
  });

  afterEach(() => at.directory.remove());

  const found = () => readLinkedWorktree(at.worktree);

  it('finds what git would find, by whatever way one comes to the worktree', async () => {
    const reported = await sh(
      at.worktree,
      'rev-parse',
      '--path-format=absolute',
      '--show-toplevel',
      '--git-dir',
      '--git-common-dir',
    );
    const [path, own, commonDir] = reported.split('\n');
    expect(found()).toEqual({ path, gitDir: own, commonDir });
    const other = join(at.directory.path, 'another-way');
    await symlink(at.worktree, other);
    expect(readLinkedWorktree(other)).toEqual({ path, gitDir: own, commonDir });
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a primary checkout', () => rm(at.worktree, { recursive: true }).then(() => rename(at.repository, at.worktree))],
    ['a directory without a link', () => rm(link)],
    ['a link to another worktree', () => writeFile(link, `gitdir: ${gitDir}x\n`)],
    ['a link that is relative', () => writeFile(link, 'gitdir: ../repository/.git/worktrees/worktree\n')],
    ['a link with more in it', async () => writeFile(link, `${await readFile(link, 'utf8')}more\n`)],
    ['a link of any length', () => writeFile(link, `gitdir: ${'/x'.repeat(10_000)}\n`)],
    ['a pipe in its place', () => rm(link).then(() => promisify(execFile)('mkfifo', [link]))],
    ['a directory in its place', () => rm(link).then(() => mkdir(link))],
    ['a link that is a link', () => rename(link, `${link}-moved`).then(() => symlink(`${link}-moved`, link))],
    [
      'an administrative directory that belongs to another',
      () => writeFile(join(gitDir, 'gitdir'), '/elsewhere/.git\n'),
    ],
    ['one without a head', () => rm(join(gitDir, 'HEAD'))],
    ['a repository without objects', () => rename(join(at.repository, '.git/objects'), join(at.repository, 'objects'))],
  ])('leaves %s to git', async (_what, damage) => {
    await damage();
    expect(found()).toBeUndefined();
  });
});
