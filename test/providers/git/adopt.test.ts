import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { commit, put, sh } from './git-fixture';
import { aClone, type CloneFixture, primaryOf, shaOf } from './git-remote-fixture';

let at: CloneFixture;

describe('worktree adoption', () => {
  beforeEach(async () => {
    at = await aClone();
  });
  afterEach(() => at.directory.remove());

  const ask = (over: object = {}) =>
    at.git.adoptable({ ...at.onBase, worktreePath: at.worktree, worktreeBranch: 'board/task', ...over });

  it('a worktree that was made by hand can be adopted, whatever is in it', async () => {
    const { repository, worktree, baseSha } = at;
    const headSha = await commit(worktree, 'Work');
    await put(worktree, { new: '1' });
    const primary = await primaryOf(repository);
    expect(await ask()).toMatchObject({ path: worktree, headSha, adoptable: true, base: { sha: baseSha } });
    expect(await primaryOf(repository)).toEqual(primary);
  });

  it.each([
    ['is on another branch', () => sh(at.worktree, 'checkout', '-q', '-b', 'other'), { branchMatches: false }],
    ['is detached', () => sh(at.worktree, 'checkout', '-q', '--detach'), { branchMatches: false }],
    ['lost its link', () => rm(join(at.worktree, '.git')), { gitDirMatches: false }],
    ['is behind the base of the remote', () => at.advance({ theirs: '1' }), { baseIsAncestor: false }],
    [
      'means another place by the name of the remote',
      async () => {
        await sh(at.repository, 'config', 'extensions.worktreeConfig', 'true');
        await sh(at.worktree, 'config', '--worktree', `url.${at.colleague}.insteadOf`, at.remote);
      },
      { remoteMatches: false },
    ],
  ])('not one that %s', async (_, prepare, expected) => {
    await prepare();
    expect(await ask()).toMatchObject({ adoptable: false, registered: true, ...expected });
  });

  it('not what is no worktree of the repository', async () => {
    const elsewhere = await ask({ worktreePath: at.colleague });
    expect(elsewhere).toMatchObject({ adoptable: false, registered: false, gitDirMatches: false, headSha: null });
    expect(await ask({ worktreePath: at.repository, worktreeBranch: 'main' })).toMatchObject({ adoptable: false });
    expect(await ask({ worktreePath: join(at.worktree, 'src') })).toMatchObject({ adoptable: false });
    expect(await shaOf(at.worktree, 'HEAD')).toBe(at.baseSha);
  });

  it('not without a fresh base', async () => {
    await sh(at.repository, 'remote', 'set-url', 'origin', '/nowhere');
    await at.configure();
    await expect(ask()).rejects.toMatchObject({ code: 'fetch-failed' });
  });
});
