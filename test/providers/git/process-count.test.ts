import { join } from 'node:path';
import { countingGit } from '../../../platform/testing/counting-git';
import { put } from './git-fixture';
import { aClone, type CloneFixture } from './git-remote-fixture';

/** The commands of git that the steps of a run start: each is a process, and most of what a run costs its host. */
describe('git processes of a run', () => {
  const path = process.env.PATH;
  let at: CloneFixture;
  let started: () => Promise<string[]>;

  beforeAll(async () => {
    at = await aClone();
    // The first question about the settings of a repository has git parse them.
    await at.git.defaultRemote({ repositoryPath: at.repository, branch: 'main' });
    const counting = await countingGit(at.directory.path);
    process.env.PATH = counting.path;
    let counted = 0;
    started = async () => {
      const all = await counting.started();
      const commands = all.slice(counted).map(({ command }) => command.split(' ')[0] ?? '');
      counted = all.length;
      return commands.sort();
    };
  });

  afterAll(async () => {
    process.env.PATH = path;
    await at.directory.remove();
  });

  it('the base of a worktree is fetched with three', async () => {
    const remote = await at.git.defaultRemote({ repositoryPath: at.repository, branch: 'main' });
    await at.git.fetchBase({ repositoryPath: at.repository, remote: remote!, branch: 'main' });
    expect(remote).toBe('origin');
    expect(await started()).toEqual(['fetch', 'remote', 'rev-parse']);
  });

  it('a worktree is made with four, and found with none', async () => {
    const request = { ...at.request, worktreePath: join(at.insideDir, 'second'), branch: 'board/second' };
    const made = await at.git.ensureWorktree(request);
    const making = ['reset', 'rev-parse', 'worktree', 'worktree'];
    expect(await started()).toEqual(making);
    expect(await at.git.ensureWorktree({ ...request, identity: made.identity })).toMatchObject({ created: false });
    expect(await started()).toEqual([]);
  });

  it('an attempt begins with four, and its changes are read with one, or four where there are some', async () => {
    const { git, worktree, request } = at;
    const { identity, worktrees } = await git.ensureWorktree(request);
    await git.snapshotRepository({ worktreePath: worktree, identity });
    await git.captureBaseline({ worktreePath: worktree, identity, attemptId: 'attempt_earlier1' });
    await started();

    const baseline = await git.captureBaseline({ worktreePath: worktree, identity, attemptId: 'attempt_12345678' });
    await git.snapshotRepository({ worktreePath: worktree, identity, worktrees });
    await git.worktreeInventory({
      worktreePath: worktree,
      identity,
      seen: { headSha: baseline.headSha, untracked: [] },
    });
    expect(await started()).toEqual(['commit-tree', 'status', 'status', 'update-ref']);

    expect(await git.collectChanges({ worktreePath: worktree, baseline })).toMatchObject({ changedFiles: [] });
    expect(await started()).toEqual(['status']);
    await git.snapshotRepository({ worktreePath: worktree, identity });
    expect(await started()).toEqual(['status']);

    await put(worktree, { 'new.txt': 'new\n' });
    const changedFiles = [{ path: 'new.txt', status: 'untracked' }];
    expect(await git.collectChanges({ worktreePath: worktree, baseline })).toMatchObject({ changedFiles });
    expect(await started()).toEqual(['add', 'diff-tree', 'status', 'write-tree']);
  });

  it('stores work with nine, and needs none for HEAD after that', async () => {
    const { git, worktree, request } = at;
    const { identity, branch } = await git.ensureWorktree(request);
    await put(worktree, { 'stored.txt': 'stored\n' });
    await started();
    await git.storeWork({ worktreePath: worktree, identity, id: 'attempt_12345678', branch, message: 'Work' });
    expect(await started()).toEqual([
      ...[
        'add',
        'commit-tree',
        'diff-tree',
        'read-tree',
        'status',
        'update-index',
        'update-ref',
        'update-ref',
        'write-tree',
      ],
    ]);
    await git.captureBaseline({ worktreePath: worktree, identity, attemptId: 'attempt_later123' });
    expect(await started()).toEqual(['commit-tree', 'status', 'update-ref']);
  });
});
