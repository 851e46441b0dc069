import { chmod, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aWorktree, commit, type GitFixture, put, sh, stateOf } from './git-fixture';

const id = 'attempt_abcd1234';
const ref = `refs/board/results/${id}`;
let at: GitFixture;

beforeEach(async () => {
  at = await aWorktree();
});
afterEach(() => at.directory.remove());

const store = (options: { withhold?: string } = {}) =>
  at.git.storeWork({
    worktreePath: at.worktree,
    id,
    branch: 'board/task',
    message: 'Work\n\nBoard-Task: task_1\n',
    author: { name: 'Ann', email: 'ann@example.org' },
    ...options,
  });
const text = async (...args: string[]) => (await sh(at.worktree, ...args)).trim();

/** A changed, a staged, a removed and a new file, and one that git ignores. */
async function change(): Promise<void> {
  await put(at.worktree, { 'src/a.txt': 'changed\n', 'new/file.txt': 'new\n', 'ignored/cache': 'c' });
  await put(at.worktree, { 'src/b.txt': 'staged\n' });
  await sh(at.worktree, 'add', 'src/b.txt');
  await sh(at.worktree, 'rm', '-q', 'README.md');
}

describe('storing uncommitted work', () => {
  it('commits new, changed, staged and removed files on the branch, with author and message', async () => {
    await change();
    const stored = await store();
    expect(stored).toEqual({ sha: await text('rev-parse', 'board/task'), ref, files: 4, withheld: null, skipped: [] });
    expect(await text('status', '--porcelain')).toBe('');
    expect(await text('symbolic-ref', 'HEAD')).toBe('refs/heads/board/task');
    expect(await text('log', '-1', '--format=%an <%ae> %cn|%P|%B')).toBe(
      `Ann <ann@example.org> Runboard|${at.baseSha}|Work\n\nBoard-Task: task_1`,
    );
    expect((await text('ls-tree', '-r', '--name-only', 'HEAD')).split('\n')).toEqual([
      '.gitignore',
      'new/file.txt',
      'src/a.txt',
      'src/b.txt',
    ]);
  });

  it('does nothing where nothing is uncommitted', async () => {
    const before = await stateOf(at.worktree);
    await put(at.worktree, { 'ignored/cache': 'c' });
    expect(await store()).toBeUndefined();
    expect((await stateOf(at.worktree)).status).toEqual(before.status);
  });

  it('repeated gives the same commit, also when the index did not follow', async () => {
    await change();
    const first = await store();
    expect(await store()).toEqual(first);
    await sh(at.worktree, 'read-tree', at.baseSha);
    expect(await store()).toEqual(first);
    expect(await text('status', '--porcelain')).toBe('');
  });

  it('resumes after its reference was written and the branch was not moved', async () => {
    await change();
    const first = await store({ withhold: 'not yet' });
    expect(first).toMatchObject({ withheld: 'not yet' });
    expect(await store()).toEqual({ ...first, withheld: null });
    expect(await text('rev-parse', 'HEAD')).toBe(first!.sha);
  });

  it('withheld leaves branch, index and files as they are, and keeps everything under the reference', async () => {
    await change();
    const before = await stateOf(at.worktree);
    expect(await store({ withhold: 'forbidden' })).toMatchObject({ ref, files: 4, withheld: 'forbidden' });
    expect(await stateOf(at.worktree)).toEqual(before);
    expect(await text('show', `${ref}:new/file.txt`)).toBe('new');
  });

  it('leaves another branch and an unfinished merge alone', async () => {
    await sh(at.worktree, 'switch', '-q', '-c', 'elsewhere');
    await change();
    expect(await store()).toMatchObject({ withheld: 'The worktree is on elsewhere, not on board/task.' });
    expect(await text('rev-parse', 'board/task', 'elsewhere')).toBe(`${at.baseSha}\n${at.baseSha}`);

    await commit(at.worktree, 'Elsewhere');
    await sh(at.worktree, 'switch', '-q', 'board/task');
    await put(at.worktree, { 'src/a.txt': 'ours\n' });
    await commit(at.worktree, 'Ours');
    await sh(at.worktree, 'merge', 'elsewhere').catch(() => undefined);
    expect(await store()).toMatchObject({ withheld: 'A merge is unfinished in the worktree.' });
  });

  it('does not commit a repository that the agent made inside', async () => {
    const inside = join(at.worktree, 'inside');
    await put(at.worktree, { 'inside/x.txt': 'x\n' });
    await sh(inside, 'init', '-q');
    await commit(inside, 'Inside');
    expect(await store()).toMatchObject({ withheld: expect.stringMatching(/^inside is a repository of its own/) });
    expect(await text('rev-parse', 'HEAD')).toBe(at.baseSha);
  });

  it('does not commit beside a repository without a commit', async () => {
    await put(at.worktree, { 'inside/x.txt': 'x\n', 'beside.txt': 'x\n' });
    await sh(join(at.worktree, 'inside'), 'init', '-q');
    expect(await store()).toMatchObject({ withheld: expect.stringMatching(/^inside is a repository of its own/) });
    expect(await text('rev-parse', 'HEAD')).toBe(at.baseSha);
    expect(await text('show', `${ref}:beside.txt`)).toBe('x');
  });

  it.each(['--skip-worktree', '--assume-unchanged'])('commits a file that was marked %s', async (mark) => {
    await sh(at.worktree, 'update-index', mark, 'README.md');
    await put(at.worktree, { 'README.md': 'changed\n' });
    const stored = await store();
    expect(stored).toMatchObject({ sha: await text('rev-parse', 'board/task'), files: 1, withheld: null });
    expect(await text('show', 'board/task:README.md')).toBe('changed');
    expect(await text('status', '--porcelain')).toBe('');
  });

  it('commits in spite of a damaged index, and replaces it', async () => {
    const { identity } = await at.git.ensureWorktree(at.request);
    const place = { ...at.request, worktreePath: at.worktree, identity, baseBranch: 'main' };
    await put(at.worktree, { 'new.txt': 'new\n', 'README.md': 'changed\n' });
    await writeFile(join(at.repository, '.git/worktrees/task/index'), 'broken\n');
    expect(await at.git.inspectWorktree(place)).toMatchObject({ dirty: 1, untracked: 1, branch: 'board/task' });
    expect(await store()).toMatchObject({ files: 2, withheld: null });
    expect(await text('show', 'HEAD:new.txt')).toBe('new');
    expect(await text('status', '--porcelain')).toBe('');
  });

  it('names files that git cannot read', async () => {
    await put(at.worktree, { 'closed.txt': 'x\n', 'open.txt': 'x\n' });
    await chmod(join(at.worktree, 'closed.txt'), 0);
    const skipped = process.getuid?.() === 0 ? [] : ['closed.txt'];
    expect(await store()).toMatchObject({ withheld: null, skipped });
    expect(await text('show', 'HEAD:open.txt')).toBe('x');
  });

  it('restores a link to the repository that was removed, and refuses a primary checkout', async () => {
    const baseline = await at.git.captureBaseline({ worktreePath: at.worktree, attemptId: id });
    await rename(join(at.worktree, '.git'), join(at.directory.path, 'link'));
    await writeFile(join(at.worktree, 'kept.txt'), 'kept\n');
    const request = { worktreePath: at.worktree, gitDir: baseline.gitDir, id, branch: 'board/task', message: 'Work' };
    expect(await at.git.storeWork(request)).toMatchObject({ files: 1, withheld: null });
    expect(await text('show', 'HEAD:kept.txt')).toBe('kept');
    await expect(
      at.git.storeWork({ worktreePath: at.repository, id, branch: 'main', message: 'Work' }),
    ).rejects.toMatchObject({ code: 'outside' });
  });
});
