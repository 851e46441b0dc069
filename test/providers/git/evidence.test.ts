import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { commit, put, sh } from './git-fixture';
import { aClone, type CloneFixture, primaryOf } from './git-remote-fixture';

let at: CloneFixture;

beforeEach(async () => {
  at = await aClone();
});
afterEach(() => at.directory.remove());

describe('inspecting a worktree', () => {
  it('finds nothing in a fresh one, and changes nothing', async () => {
    const { git, repository, worktree, baseSha, inspection } = at;
    const primary = await primaryOf(repository);
    expect(await git.inspectWorktree(inspection)).toEqual({
      path: worktree,
      exists: true,
      identity: expect.objectContaining({ inode: expect.any(String) }),
      replaced: null,
      registered: true,
      gitDirMatches: true,
      headSha: baseSha,
      branch: 'board/task',
      branchSha: baseSha,
      dirty: 0,
      untracked: 0,
      base: { sha: baseSha, source: 'remote-tracking' },
      ahead: 0,
      behind: 0,
      unpushed: 0,
      unmerged: false,
      operation: null,
      locked: null,
      complete: true,
      problems: [],
    });
    expect(await primaryOf(repository)).toEqual(primary);
  });

  it('reports the same of one that was just made, without reading its files', async () => {
    const { git, inspection } = at;
    const made = { ...(await git.ensureWorktree(at.request)), created: true };
    expect(await git.inspectNew(inspection, made)).toEqual(await git.inspectWorktree(inspection));
    const { remote: _remote, ...withoutRemote } = inspection;
    expect(await git.inspectNew(withoutRemote, made)).toEqual(await git.inspectWorktree(withoutRemote));
  });

  it('inspects what else there is of one that was just made', async () => {
    const { git, worktree, inspection, repository } = at;
    const made = { ...(await git.ensureWorktree(at.request)), created: true };
    expect(await git.inspectNew(inspection, { ...made, created: false })).toBeUndefined();
    expect(await git.inspectNew(inspection, { ...made, headSha: await commit(worktree, 'Earlier') })).toBeUndefined();
    const moved = await commit(repository, 'Moved');
    await sh(repository, 'update-ref', 'refs/remotes/origin/main', moved);
    expect(await git.inspectNew(inspection, made)).toBeUndefined();
  });

  it('counts files, also those hidden from git and repositories inside', async () => {
    const { git, worktree, inspection } = at;
    await sh(worktree, 'update-index', '--assume-unchanged', 'src/a.txt');
    await put(worktree, { 'src/a.txt': 'hidden\n', 'README.md': 'changed\n', new: '1', 'ignored/x': '1' });
    await sh(worktree, 'init', '-q', 'inner');
    await commit(join(worktree, 'inner'), 'Inner');
    expect(await git.inspectWorktree(inspection)).toMatchObject({ dirty: 2, untracked: 2, complete: true });
    expect(await sh(worktree, 'ls-files', '-v', 'src/a.txt')).toMatch(/^h /);
  });

  it('counts commits against the base as last fetched, and what no remote branch has', async () => {
    const { git, worktree, inspection, advance, onBase } = at;
    await commit(worktree, 'One');
    await commit(worktree, 'Two');
    await advance({ theirs: '1' });
    expect(await git.inspectWorktree(inspection)).toMatchObject({ ahead: 2, behind: 0, unpushed: 2, unmerged: true });
    await git.fetchBase(onBase);
    await sh(worktree, 'push', '-q', 'origin', 'HEAD~1:refs/heads/review');
    expect(await git.inspectWorktree(inspection)).toMatchObject({ ahead: 2, behind: 1, unpushed: 1, unmerged: true });
    const { remote: _, ...withoutRemote } = inspection;
    expect(await git.inspectWorktree(withoutRemote)).toMatchObject({
      ahead: 2,
      unpushed: 2,
      base: { source: 'local' },
    });
    expect(await git.inspectWorktree({ ...inspection, baseBranch: 'nowhere' })).toMatchObject({
      base: { sha: at.baseSha, source: 'recorded' },
      ahead: 2,
    });
  });

  it('counts commits of the branch while HEAD is elsewhere', async () => {
    const { git, worktree, inspection, baseSha } = at;
    const branchSha = await commit(worktree, 'One');
    await sh(worktree, 'checkout', '-q', '--detach', baseSha);
    expect(await git.inspectWorktree(inspection)).toMatchObject({
      headSha: baseSha,
      branch: null,
      branchSha,
      ahead: 0,
      unpushed: 1,
      unmerged: true,
    });
  });

  it('names an unfinished rebase and its branch', async () => {
    const { git, worktree, inspection, repository } = at;
    await put(worktree, { 'src/a.txt': 'ours\n' });
    await commit(worktree, 'Ours');
    await put(repository, { 'src/a.txt': 'theirs\n' });
    await sh(repository, 'commit', '-q', '-m', 'Theirs', '--', 'src/a.txt');
    await expect(sh(worktree, 'rebase', '-q', 'main')).rejects.toThrow();
    expect(await git.inspectWorktree(inspection)).toMatchObject({ operation: 'rebase', branch: 'board/task' });
    await sh(worktree, 'rebase', '--abort');
  });

  it('reports what cannot be determined', async () => {
    const { git, worktree, inspection, repository } = at;
    await writeFile(join(repository, '.git/worktrees/task/index'), 'damaged');
    expect(await git.inspectWorktree(inspection)).toMatchObject({ complete: false, headSha: at.baseSha });
    await rm(join(worktree, '.git'));
    expect(await git.inspectWorktree(inspection)).toMatchObject({
      complete: false,
      exists: true,
      registered: true,
      gitDirMatches: false,
    });
    await rm(worktree, { recursive: true });
    expect(await git.inspectWorktree(inspection)).toMatchObject({
      complete: true,
      exists: false,
      registered: true,
      branchSha: at.baseSha,
    });
  });

  it('is not fooled by a directory or foreign link at its path', async () => {
    const { git, worktree, inspection, colleague, directory } = at;
    await rename(worktree, join(directory.path, 'moved'));
    await symlink(colleague, worktree);
    expect(await git.inspectWorktree(inspection)).toMatchObject({
      exists: true,
      gitDirMatches: false,
      identity: null,
      replaced: expect.stringContaining('symbolic link'),
      complete: false,
    });
    await rm(worktree);
    await rename(colleague, worktree);
    expect(await git.inspectWorktree(inspection)).toMatchObject({
      exists: true,
      gitDirMatches: false,
      complete: false,
    });
  });
});

it('worktrees are listed with what git knows of them', async () => {
  const { git, repository, worktree, baseSha, directory } = at;
  await sh(repository, 'worktree', 'lock', '--reason', 'on a disk\nthat is away', worktree);
  const detached = join(directory.path, 'a detached\none');
  await sh(repository, 'worktree', 'add', '-q', '--detach', detached);
  await rm(detached, { recursive: true });
  const common = { headSha: baseSha, locked: null, prunable: null };
  expect(await git.listWorktrees({ repositoryPath: repository })).toEqual([
    { ...common, path: repository, branch: 'main' },
    { ...common, path: detached, branch: null, prunable: expect.stringContaining('non-existent') },
    { ...common, path: worktree, branch: 'board/task', locked: 'on a disk\nthat is away' },
  ]);
});

describe('holders of a directory', () => {
  const started: ChildProcess[] = [];

  afterEach(async () => {
    for (const child of started.splice(0)) {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
  });

  const start = (cwd: string, script: string): ChildProcess => {
    const child = spawn('sh', ['-c', script], { cwd, stdio: 'ignore' });
    started.push(child);
    return child;
  };

  it('are the processes that work in it', async () => {
    const { git, worktree, directory } = at;
    expect((await git.holders({ worktreePath: worktree })).processes).toEqual([]);
    const inside = start(join(worktree, 'src'), 'read _ < /dev/zero; :');
    const reading = start(directory.path, `exec 3< '${worktree}/README.md'; read _ < /dev/zero; :`);
    await mkdir(`${worktree}-beside`);
    start(`${worktree}-beside`, 'read _ < /dev/zero; :');
    await eventually(async () => {
      const { processes } = await git.holders({ worktreePath: worktree });
      expect(processes.map(({ pid }) => pid).sort()).toEqual([inside.pid, reading.pid].sort());
      expect(processes).toContainEqual(
        expect.objectContaining({ pid: inside.pid, command: 'sh', startTime: expect.stringMatching(/^\d+$/) }),
      );
    });
  });
});
