import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { commit, contents, put, sh } from './git-fixture';
import { aClone, type CloneFixture, primaryOf, shaOf } from './git-remote-fixture';

let at: CloneFixture;

beforeEach(async () => {
  at = await aClone();
});
afterEach(() => at.directory.remove());

const request = (over: object = {}) => ({
  ...at.inspection,
  insideDir: at.insideDir,
  headSha: at.baseSha,
  id: 'wt_01',
  force: false,
  ...over,
});

const branches = () => sh(at.repository, 'for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/board');

/** Files of a commit by name, as `contents` reads them from a directory. */
async function filesOf(sha: string): Promise<Record<string, string>> {
  const path = join(at.directory.path, 'look');
  await sh(at.repository, 'worktree', 'add', '-q', '--detach', path, sha);
  const files = await contents(path);
  await sh(at.repository, 'worktree', 'remove', '--force', path);
  return files;
}

it('a clean, merged worktree goes with its branch; a second time there is nothing to do', async () => {
  const { git, repository, worktree } = at;
  const primary = await primaryOf(repository);
  expect(await git.removeWorktree(request())).toEqual({ removed: true, branchDeleted: true });
  expect(await git.listWorktrees({ repositoryPath: repository })).toHaveLength(1);
  await expect(contents(worktree)).rejects.toThrow('ENOENT');
  expect(await branches()).toBe('refs/heads/main\n');
  expect(await git.removeWorktree(request())).toEqual({ removed: false, branchDeleted: false });
  expect(await primaryOf(repository)).toEqual(primary);
});

it('a lock of the branch that an ended git has left is removed', async () => {
  await put(at.repository, { '.git/refs/heads/board/task.lock': '' });
  expect(await at.git.removeWorktree(request({ force: true }))).toEqual({ removed: true, branchDeleted: true });
  expect(await branches()).toBe('refs/heads/main\n');
});

describe('without force nothing goes that', () => {
  it.each([
    ['has a changed file', () => put(at.worktree, { 'src/a.txt': 'changed' }), 'dirty'],
    ['has a staged file', async () => put(at.worktree, { n: '1' }).then(() => sh(at.worktree, 'add', 'n')), 'dirty'],
    ['has an untracked file', () => put(at.worktree, { new: '1' }), 'dirty'],
    [
      'has a repository inside',
      () => sh(at.worktree, 'init', '-q', 'inner').then(() => put(at.worktree, { 'inner/x': '1' })),
      'dirty',
    ],
    ['is locked', () => sh(at.repository, 'worktree', 'lock', '--reason', 'mine', at.worktree), 'worktree-locked'],
    ['is on another branch', () => sh(at.worktree, 'checkout', '-q', '-b', 'other'), 'mismatch'],
    ['is detached', () => sh(at.worktree, 'checkout', '-q', '--detach'), 'mismatch'],
    ['lost its link', () => rm(join(at.worktree, '.git')), 'mismatch'],
  ])('%s', async (_, prepare, code) => {
    await prepare();
    const files = await contents(at.worktree);
    await expect(at.git.removeWorktree(request())).rejects.toMatchObject({ code });
    expect(await contents(at.worktree)).toEqual(files);
    if (code !== 'dirty') {
      await expect(at.git.removeWorktree(request({ force: true }))).rejects.toMatchObject({ code });
    }
  });

  it('has commits of its own, pushed or not', async () => {
    const headSha = await commit(at.worktree, 'Work');
    await expect(at.git.removeWorktree(request())).rejects.toMatchObject({ code: 'stale' });
    await expect(at.git.removeWorktree(request({ headSha }))).rejects.toMatchObject({ code: 'unmerged' });
    await sh(at.worktree, 'push', '-q', 'origin', 'board/task');
    await expect(at.git.removeWorktree(request({ headSha }))).rejects.toMatchObject({ code: 'unmerged' });
    await sh(at.worktree, 'push', '-q', 'origin', 'board/task:main');
    expect(await at.git.removeWorktree(request({ headSha }))).toEqual({ removed: true, branchDeleted: true });
  });
});

describe('with force', () => {
  it('everything is kept first', async () => {
    const { git, repository, worktree } = at;
    await put(worktree, { 'src/work.txt': 'work' });
    const headSha = await commit(worktree, 'Work');
    await put(worktree, { 'src/a.txt': 'changed', 'new file': '1', 'ignored/x': 'built' });
    const { 'ignored/x': _, ...files } = await contents(worktree);
    const primary = await primaryOf(repository);
    const removed = await git.removeWorktree(request({ headSha, force: true }));
    expect(removed).toMatchObject({
      removed: true,
      branchDeleted: true,
      preserved: { ref: 'refs/board/removed/wt_01' },
    });
    const { commit: kept } = removed.preserved!;
    expect(await filesOf(kept)).toEqual(files);
    expect(await shaOf(repository, `${kept}^1`)).toBe(headSha);
    expect(await primaryOf(repository)).toEqual(primary);
    expect(await git.removeWorktree(request({ headSha, force: true }))).toEqual({
      ...removed,
      removed: false,
      branchDeleted: false,
    });
  });

  it('nothing is kept that is nowhere in danger, and commits alone are kept as they are', async () => {
    expect(await at.git.removeWorktree(request({ force: true }))).toEqual({ removed: true, branchDeleted: true });
    await at.git.ensureWorktree(at.request);
    const headSha = await commit(at.worktree, 'Work');
    const removed = await at.git.removeWorktree(request({ headSha, force: true, id: 'wt_02' }));
    expect(removed.preserved).toEqual({ ref: 'refs/board/removed/wt_02', commit: headSha });
  });

  it('repositories inside are moved away, links are not followed', async () => {
    const { git, worktree, directory } = at;
    await sh(worktree, 'init', '-q', 'inner');
    await put(worktree, { 'inner/x': '1' });
    const inner = await commit(join(worktree, 'inner'), 'Inner');
    const outside = join(directory.path, 'outside');
    await put(outside, { precious: '1' });
    await symlink(outside, join(worktree, 'link'));
    const { setAside } = await git.removeWorktree(request({ force: true }));
    expect(await shaOf(join(setAside!, 'worktree/inner'), 'HEAD')).toBe(inner);
    expect(await contents(outside)).toHaveProperty('precious');
  });

  it('the repositories of submodules are moved away, also without it', async () => {
    const { git, worktree, colleague, repository } = at;
    await sh(worktree, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', colleague, 'sub');
    const headSha = await commit(worktree, 'Add a submodule');
    await sh(worktree, 'push', '-q', 'origin', 'HEAD:main');
    const inSub = await shaOf(join(worktree, 'sub'), 'HEAD');
    const { setAside } = await git.removeWorktree(request({ headSha }));
    expect(setAside).toBe(join(repository, '.git/board/set-aside/wt_01'));
    expect(await shaOf(join(setAside!, 'modules/sub'), 'HEAD')).toBe(inSub);
  });

  it('an unfinished rebase is no obstacle', async () => {
    const { git, worktree, repository } = at;
    await put(worktree, { 'src/a.txt': 'ours\n' });
    const ours = await commit(worktree, 'Ours');
    await put(repository, { 'src/a.txt': 'theirs\n' });
    await sh(repository, 'commit', '-q', '-m', 'Theirs', '--', 'src/a.txt');
    await expect(sh(worktree, 'rebase', '-q', 'main')).rejects.toThrow();
    const headSha = await shaOf(worktree, 'HEAD');
    await expect(git.removeWorktree(request({ headSha }))).rejects.toMatchObject({ code: 'dirty' });
    const { preserved: kept } = await git.removeWorktree(request({ headSha, force: true }));
    expect(await git.isAncestor({ repositoryPath: repository, ancestor: ours, descendant: kept!.commit })).toBe(true);
  });

  it('a worktree whose directory is gone is forgotten, its commits are kept', async () => {
    const headSha = await commit(at.worktree, 'Work');
    await rm(at.worktree, { recursive: true });
    const removed = await at.git.removeWorktree(request({ headSha, force: true }));
    expect(removed).toMatchObject({ removed: true, branchDeleted: true, preserved: { commit: headSha } });
  });
});

it('a worktree that was never handed over goes as it is', async () => {
  const { git, repository, worktree } = at;
  await sh(repository, 'worktree', 'remove', worktree);
  const half = ['worktree', 'add', '-q', '--no-checkout', '--lock', '--reason', 'board: preparing', worktree];
  await sh(repository, ...half, 'board/task');
  expect(await git.removeWorktree(request())).toEqual({ removed: true, branchDeleted: true });
});

it('a branch whose worktree git has forgotten goes by force only, and is kept', async () => {
  const headSha = await commit(at.worktree, 'Work');
  await sh(at.repository, 'worktree', 'remove', at.worktree);
  const forgotten = { removed: false, branchDeleted: false };
  expect(await at.git.removeWorktree(request({ headSha }))).toEqual(forgotten);
  const kept = { ref: 'refs/board/removed/wt_01', commit: headSha };
  const answer = { removed: false, branchDeleted: true, preserved: kept };
  expect(await at.git.removeWorktree(request({ headSha, force: true }))).toEqual(answer);
});

it('a branch that is checked out elsewhere stays', async () => {
  await sh(at.repository, 'worktree', 'add', '-q', '--force', join(at.directory.path, 'second'), 'board/task');
  expect(await at.git.removeWorktree(request())).toEqual({ removed: true, branchDeleted: false });
});

it('only what is inside the directory of worktrees can go', async () => {
  const { git, repository, directory, worktree, insideDir } = at;
  await mkdir(join(directory.path, 'elsewhere'));
  await symlink(directory.path, join(insideDir, 'link'));
  await symlink(worktree, join(insideDir, 'alias'));
  const outside = [
    repository,
    insideDir,
    'relative',
    join(insideDir, '..', 'elsewhere'),
    join(insideDir, 'link', 'repository'),
    join(insideDir, 'alias'),
  ];
  for (const worktreePath of outside) {
    for (const force of [false, true]) {
      await expect(git.removeWorktree(request({ worktreePath, force }))).rejects.toMatchObject({ code: 'outside' });
    }
  }
  const anywhere = request({ worktreePath: repository, insideDir: directory.path, branch: 'main', force: true });
  await expect(git.removeWorktree(anywhere)).rejects.toMatchObject({ code: 'outside' });
  await mkdir(join(insideDir, 'foreign'));
  const foreign = request({ worktreePath: join(insideDir, 'foreign'), force: true });
  await expect(git.removeWorktree(foreign)).rejects.toMatchObject({ code: 'mismatch' });
});
