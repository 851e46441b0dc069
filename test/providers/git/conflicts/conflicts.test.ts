import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoppedMerge, StoppedRebase } from '../../../../contracts/runs/conflict';
import { commit, contents, put, sh, stateOf } from '../git-fixture';
import { primaryOf, shaOf } from '../git-remote-fixture';
import { aConflict, type ConflictFixture } from './conflict-fixture';

let at: ConflictFixture;

beforeEach(async () => {
  at = await aConflict();
});
afterEach(() => at.directory.remove());

const author = { name: 'user:anna', email: 'runboard@localhost' };

describe('a rebase that keeps its conflict', () => {
  it('stops in the worktree, and names what is in conflict', async () => {
    const primary = await primaryOf(at.repository);
    const { headSha, ontoSha, rebased } = await at.stop();
    expect(rebased).toMatchObject({ headSha, rebased: false, conflicts: ['src/a.txt'] });
    expect(await at.git.conflicts.list(at.recorded)).toEqual({
      hasConflicts: true,
      conflictingFiles: ['src/a.txt'],
      files: [{ path: 'src/a.txt', kind: 'both-modified' }],
      totalConflicts: 1,
      rebaseInProgress: true,
      mergeInProgress: false,
      operation: 'rebase',
      oursCommit: await shaOf(at.worktree, 'HEAD'),
      theirsCommit: headSha,
      remainingCommits: 0,
    });
    expect(await shaOf(at.worktree, 'HEAD~1')).toBe(ontoSha);
    expect(await shaOf(at.worktree, 'board/task')).toBe(headSha);
    expect(await primaryOf(at.repository)).toEqual(primary);
  });

  it('is the same one when it is repeated', async () => {
    const { headSha, ontoSha, rebased } = await at.stop();
    // The date of the first commit is that of its try.
    const current = async () => {
      const { status, ...state } = await stateOf(at.worktree);
      return { ...state, status: status.filter((line) => !line.startsWith('# branch.oid')) };
    };
    const before = await current();
    expect(await at.rebase(ontoSha)).toMatchObject({
      conflicts: rebased.conflicts,
      previousHeadSha: headSha,
    });
    expect(await current()).toEqual(before);
  });

  it('shows a file in its versions, with the lines in conflict', async () => {
    await at.stop();
    const file = await at.git.conflicts.read(at.recorded, 'src/a.txt');
    expect(file).toMatchObject({
      kind: 'both-modified',
      oursContent: 'theirs\n',
      theirsContent: 'ours\n',
      baseContent: 'a\n',
      markers: [{ startLine: 1, separatorLine: 3, endLine: 5, oursLabel: 'HEAD' }],
      versions: { ours: { mode: '100644', bytes: 7, text: 'utf-8' } },
    });
    expect(file.content).toMatch(/^<<<<<<< HEAD\ntheirs\n=======\nours\n>>>>>>> /);
    await expect(at.git.conflicts.read(at.recorded, 'src/b.txt')).rejects.toMatchObject({ code: 'unknown-path' });
  });

  it.each([
    ['ours', undefined, 'theirs\n'],
    ['theirs', undefined, 'ours\n'],
    ['manual', 'both\n', 'both\n'],
  ] as const)('is continued with %s', async (resolution, text, expected) => {
    const { headSha, ontoSha } = await at.stop();
    await at.resolve('src/a.txt', resolution, text);
    expect(await at.git.conflicts.list(at.recorded)).toMatchObject({ hasConflicts: false, rebaseInProgress: true });
    const done = await at.proceed();
    expect(done).toEqual({ ended: 'done', headSha: await shaOf(at.worktree, 'board/task'), paths: [] });
    expect(await sh(at.worktree, 'show', 'HEAD:src/a.txt')).toBe(expected);
    const commits = resolution === 'ours' ? ['One'] : ['Two', 'One'];
    expect(await sh(at.worktree, 'log', '--format=%s %an', `${ontoSha}..HEAD`)).toBe(
      commits.map((subject) => `${subject} A\n`).join(''),
    );
    expect(await sh(at.worktree, 'status', '--porcelain=v2', '--branch')).toContain('# branch.head board/task');
    expect(await sh(at.worktree, 'status', '--porcelain')).toBe('');
    expect(await shaOf(at.worktree, 'refs/board/rebased/op_01')).toBe(headSha);
  });

  it('is continued with another message, and with the file as it was edited in the worktree', async () => {
    await at.stop();
    await expect(at.resolve('src/a.txt', 'manual')).rejects.toMatchObject({ code: 'conflict' });
    await put(at.worktree, { 'src/a.txt': 'edited\n', 'src/also.txt': 'needed\n' });
    await at.resolve('src/a.txt', 'manual');
    await at.proceed('op_02', 'Two, by hand');
    expect(await sh(at.worktree, 'log', '-1', '--format=%B')).toBe('Two, by hand\n\n');
    expect(await contents(at.worktree)).toMatchObject({ 'src/a.txt': expect.any(String) });
    expect(await sh(at.worktree, 'show', 'HEAD:src/a.txt', 'HEAD:src/also.txt')).toBe('edited\nneeded\n');
  });

  it('is not continued while a file is in conflict', async () => {
    await at.stop();
    const before = await stateOf(at.worktree);
    await expect(at.proceed()).rejects.toMatchObject({ code: 'merge-conflict', paths: ['src/a.txt'] });
    expect(await stateOf(at.worktree)).toEqual(before);
  });

  it('is aborted: everything is as before, and what was resolved is stored', async () => {
    const { headSha } = await at.diverge({ 'src/a.txt': 'theirs\n' });
    const before = await stateOf(at.worktree);
    const { sha: ontoSha } = await at.git.fetchBase(at.onBase);
    await at.rebase(ontoSha);
    await at.resolve('src/a.txt', 'manual', 'resolved\n');
    const aborted = await at.git.conflicts.abort({ ...at.recorded, id: 'op_02', stopped: await at.stopped() });
    expect(aborted).toEqual({ headSha, ref: 'refs/board/aborted/op_02' });
    expect(await stateOf(at.worktree)).toEqual(before);
    expect(await sh(at.repository, 'show', `${aborted.ref}:src/a.txt`)).toBe('resolved\n');
    expect(await at.stopped()).toBeUndefined();
  });

  it('stops again at the next commit in conflict', async () => {
    const { worktree } = at;
    await put(worktree, { 'src/a.txt': '1\n' });
    await commit(worktree, 'First');
    await put(worktree, { 'src/b.txt': '2\n' });
    await commit(worktree, 'Second');
    await put(worktree, { 'new.txt': '3\n' });
    await commit(worktree, 'Third');
    await at.advance({ 'src/a.txt': 'theirs\n', 'src/b.txt': 'theirs\n' });
    const { sha: ontoSha } = await at.git.fetchBase(at.onBase);
    await at.rebase(ontoSha);
    expect(await at.git.conflicts.list(at.recorded)).toMatchObject({ remainingCommits: 2 });
    await at.resolve('src/a.txt', 'theirs');
    expect(await at.proceed()).toMatchObject({ ended: 'stopped', paths: ['src/b.txt'] });
    expect(await at.git.conflicts.list(at.recorded)).toMatchObject({ remainingCommits: 1, operation: 'rebase' });
    await at.resolve('src/b.txt', 'theirs');
    expect(await at.proceed('op_03')).toMatchObject({ ended: 'done' });
    expect(await sh(worktree, 'log', '--format=%s', `${ontoSha}..board/task`)).toBe('Third\nSecond\nFirst\n');
    expect(await sh(worktree, 'status', '--porcelain')).toBe('');
  });
});

describe('versions of a file', () => {
  /** Both sides change the files; a side of `null` deletes. */
  async function both(ours: Record<string, string | Buffer | null>, theirs: typeof ours): Promise<void> {
    const change = async (root: string, files: typeof ours): Promise<void> => {
      for (const [path, content] of Object.entries(files)) {
        await (content === null ? rm(join(root, path), { recursive: true }) : put(root, { [path]: content }));
      }
    };
    await change(at.worktree, theirs);
    await commit(at.worktree, 'Branch');
    await sh(at.colleague, 'pull', '-q');
    await change(at.colleague, ours);
    await commit(at.colleague, 'Base');
    await sh(at.colleague, 'push', '-q', 'origin', 'main');
    const { sha: ontoSha } = await at.git.fetchBase(at.onBase);
    await at.rebase(ontoSha);
  }

  it('that one side has deleted are taken by removing or restoring it', async () => {
    await both({ 'src/a.txt': null, 'src/b.txt': 'ours\n' }, { 'src/a.txt': 'theirs\n', 'src/b.txt': null });
    expect((await at.git.conflicts.list(at.recorded)).files).toEqual([
      { path: 'src/a.txt', kind: 'deleted-by-us' },
      { path: 'src/b.txt', kind: 'deleted-by-them' },
    ]);
    expect(await at.git.conflicts.read(at.recorded, 'src/a.txt')).toMatchObject({
      oursContent: null,
      theirsContent: 'theirs\n',
      versions: { ours: null },
    });
    await at.resolve('src/a.txt', 'ours');
    await at.resolve('src/b.txt', 'theirs');
    expect(Object.keys(await contents(at.worktree)).filter((path) => path.startsWith('src'))).toEqual([]);
    await expect(at.resolve('src/a.txt', 'theirs')).rejects.toMatchObject({ code: 'unknown-path' });
    expect(await at.proceed()).toMatchObject({ ended: 'done' });
  });

  it('that are binary, or too large, are marked so and are taken as they are', async () => {
    const large = (line: string) => `${line}\n`.repeat(200_000);
    const binary = Buffer.from([0, 1, 2, 255]);
    await both(
      { 'src/a.txt': binary, 'src/b.txt': large('ours') },
      { 'src/a.txt': Buffer.from([0, 9]), 'src/b.txt': large('theirs') },
    );
    expect(await at.git.conflicts.read(at.recorded, 'src/a.txt')).toMatchObject({
      oursContent: null,
      baseContent: 'a\n',
      versions: { ours: { text: 'binary', bytes: 4 }, base: { text: 'utf-8' } },
    });
    expect(await at.git.conflicts.read(at.recorded, 'src/b.txt')).toMatchObject({
      content: null,
      versions: { worktree: { text: 'too-large' }, ours: { text: 'too-large', bytes: 1_000_000 } },
    });
    await at.resolve('src/a.txt', 'ours');
    await expect(at.resolve('src/b.txt', 'manual')).rejects.toMatchObject({ code: 'conflict' });
    await at.resolve('src/b.txt', 'theirs');
    await at.proceed();
    expect((await contents(at.worktree))['src/a.txt']).toBe(`- ${binary.toString('base64')}`);
  });

  it('have names of any characters, and keep their mode', async () => {
    const path = 'src/a b\n\t"ü*.sh';
    await put(at.worktree, { [path]: 'base\n' });
    await sh(at.worktree, 'add', '-A');
    await sh(at.worktree, 'update-index', '--chmod=+x', path);
    await sh(at.worktree, 'commit', '-q', '-m', 'Add');
    await sh(at.worktree, 'push', '-q', 'origin', 'HEAD:main');
    await sh(at.worktree, 'checkout', '-q', '-f', 'HEAD');
    await both({ [path]: 'ours\n' }, { [path]: 'theirs\n' });
    await at.resolve(path, 'manual', 'mine\r\n');
    await at.proceed();
    expect(await sh(at.worktree, 'ls-tree', '-z', 'HEAD', '--', 'src/')).toMatch(/100755 blob \w+\tsrc\/a b\n/);
    expect((await contents(at.worktree))[path]).toBe(`x ${Buffer.from('mine\r\n').toString('base64')}`);
  });

  it('are not read or written through a link out of the worktree', async () => {
    await at.stop();
    const outside = join(at.directory.path, 'outside');
    await mkdir(outside);
    await put(outside, { 'a.txt': 'secret' });
    await rm(join(at.worktree, 'src'), { recursive: true });
    await symlink(outside, join(at.worktree, 'src'));
    const file = await at.git.conflicts.read(at.recorded, 'src/a.txt');
    expect(file).toMatchObject({ content: null, versions: { worktree: null } });
    await expect(at.resolve('src/a.txt', 'manual')).rejects.toMatchObject({ code: 'conflict' });
    await at.resolve('src/a.txt', 'manual', 'mine\n');
    expect(await contents(outside)).toEqual({
      'a.txt': expect.stringContaining(Buffer.from('secret').toString('base64')),
    });
  });

  it('are not removed through a link out of the worktree', async () => {
    await both({ 'src/a.txt': null }, { 'src/a.txt': 'theirs\n' });
    const outside = join(at.directory.path, 'outside');
    await mkdir(outside);
    await put(outside, { 'a.txt': 'precious' });
    await rm(join(at.worktree, 'src'), { recursive: true });
    await symlink(outside, join(at.worktree, 'src'));
    await at.resolve('src/a.txt', 'ours');
    expect(Object.keys(await contents(outside))).toEqual(['a.txt']);
  });
});

describe('a merge that an agent has left', () => {
  async function merge(): Promise<{ headSha: string; ontoSha: string }> {
    const { headSha, ontoSha } = await at.diverge({ 'src/a.txt': 'theirs\n' });
    await sh(at.worktree, 'merge', '-q', ontoSha).catch(() => undefined);
    return { headSha, ontoSha };
  }

  it('is committed with both parents', async () => {
    const { headSha, ontoSha } = await merge();
    expect(await at.git.conflicts.list(at.recorded)).toMatchObject({
      mergeInProgress: true,
      rebaseInProgress: false,
      oursCommit: headSha,
      theirsCommit: ontoSha,
      remainingCommits: null,
    });
    await at.resolve('src/a.txt', 'manual', 'both\n');
    const request = {
      ...at.recorded,
      id: 'op_02',
      stopped: await at.stopped<StoppedMerge>(),
      message: 'Merge',
      author,
    };
    const done = await at.git.conflicts.continueMerge(request);
    expect(await at.git.conflicts.continueMerge(request)).toEqual(done);
    expect(await sh(at.worktree, 'log', '-1', '--format=%P %an %s')).toBe(`${headSha} ${ontoSha} user:anna Merge\n`);
    expect(await sh(at.worktree, 'status', '--porcelain')).toBe('');
    expect(await at.stopped()).toBeUndefined();
  });

  it('is aborted, and changes it had nothing to do with stay', async () => {
    const { headSha } = await merge();
    await put(at.worktree, { 'README.md': 'mine\n', 'new.txt': '1\n' });
    const { ref } = await at.git.conflicts.abort({ ...at.recorded, id: 'op_02', stopped: await at.stopped() });
    expect(await shaOf(at.worktree, 'HEAD')).toBe(headSha);
    expect(await sh(at.worktree, 'status', '--porcelain')).toBe(' M README.md\n?? new.txt\n');
    expect(await sh(at.repository, 'show', `${ref}:src/a.txt`)).toContain('<<<<<<<');
  });
});

describe('a rebase that an agent has left', () => {
  it('is continued like one of ours', async () => {
    const { ontoSha } = await at.diverge({ 'src/a.txt': 'theirs\n' });
    await sh(at.worktree, 'rebase', '-q', ontoSha).catch(() => undefined);
    await at.resolve('src/a.txt', 'theirs');
    expect(await at.proceed()).toMatchObject({ ended: 'done' });
    expect(await sh(at.worktree, 'log', '--format=%s', `${ontoSha}..HEAD`)).toBe('Two\nOne\n');
  });

  it.each([
    ['a program', 'exec touch PWNED\n'],
    ['another command', 'squash HEAD\n'],
    ['a commit that does not exist', `pick ${'ab'.repeat(20)} What\n`],
    ['a thousand commits and more', 'pick COMMIT One\n'.repeat(1_001)],
  ])('is refused when its list has %s', async (_, line) => {
    const { headSha } = await at.stop();
    await at.resolve('src/a.txt', 'theirs');
    const list = join(at.place.adminDirectory, 'rebase-merge');
    await put(list, { 'git-rebase-todo': line.replaceAll('COMMIT', headSha) });
    await expect(at.stopped()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('git rebase'),
    });
  });

  it('is refused when it is of another branch, or has put changes away', async () => {
    await at.stop();
    const state = join(at.place.adminDirectory, 'rebase-merge');
    await put(state, { 'head-name': 'refs/heads/main\n' });
    await expect(at.stopped()).rejects.toMatchObject({ code: 'conflict' });
    await put(state, { 'head-name': 'refs/heads/board/task\n', autostash: `${at.baseSha}\n` });
    await expect(at.stopped()).rejects.toMatchObject({ code: 'conflict' });
  });

  it('runs no program that was written into its list after it was read', async () => {
    const { worktree } = at;
    await put(worktree, { 'src/a.txt': '1\n' });
    await commit(worktree, 'First');
    await put(worktree, { 'src/c.txt': '2\n' });
    await commit(worktree, 'Second');
    await at.advance({ 'src/a.txt': 'theirs\n' });
    const { sha: ontoSha } = await at.git.fetchBase(at.onBase);
    await at.rebase(ontoSha);
    await at.resolve('src/a.txt', 'theirs');
    const read = await at.stopped<StoppedRebase>();
    const continued = { ...at.recorded, id: 'op_02', stopped: read, message: undefined };
    await put(join(at.place.adminDirectory, 'rebase-merge'), { 'git-rebase-todo': 'exec touch PWNED\n' });
    await expect(at.git.conflicts.continueRebase(continued)).rejects.toMatchObject({ code: 'conflict' });
    expect(Object.keys(await contents(worktree))).not.toContain('PWNED');
  });
});
