import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { isBranchName } from '../../../contracts/common';
import { createGit } from '../../../providers/git/git';
import { GitError } from '../../../providers/git/git-error';
import { aWorktree, commit, contents, type GitFixture, put, sh } from './git-fixture';

let at: GitFixture;

beforeEach(async () => {
  at = await aWorktree();
});
afterEach(() => at.directory.remove());

describe('resolving a base', () => {
  it('answers the commit of a branch, local or fetched', async () => {
    const { git, repository, baseSha, worktree } = at;
    expect(await git.resolveBase({ repositoryPath: repository, branch: 'main' })).toEqual({ sha: baseSha });
    const sha = await commit(worktree, 'More');
    await sh(repository, 'update-ref', 'refs/remotes/origin/main', sha);
    expect(await git.resolveBase({ repositoryPath: repository, branch: 'main', remote: 'origin' })).toEqual({ sha });
  });

  it.each([
    ['an unknown branch', 'nowhere', 'unknown-ref'],
    ['an option', '--upload-pack=touch x', 'unknown-ref'],
    ['a revision', 'main~1', 'unknown-ref'],
    ['a commit', '0'.repeat(40), 'unknown-ref'],
  ])('refuses %s', async (_, branch, code) => {
    await expect(at.git.resolveBase({ repositoryPath: at.repository, branch })).rejects.toMatchObject({ code });
  });

  it('refuses what is no repository', async () => {
    const { git, directory } = at;
    for (const path of [directory.path, join(directory.path, 'nowhere'), join(at.repository, 'src')]) {
      await expect(git.resolveBase({ repositoryPath: path, branch: 'main' })).rejects.toMatchObject({
        code: 'not-a-repository',
      });
    }
  });

  it('knows branch names as git does', async () => {
    const characters = fc.constantFrom(...'ab.-/@{~^:?*[\\ \u007f\té'.split(''), '.lock', '..', 'HEAD');
    await fc.assert(
      fc.asyncProperty(fc.array(characters, { minLength: 1, maxLength: 5 }), async (parts) => {
        const name = parts.join('');
        const accepted = await sh(at.repository, 'check-ref-format', `refs/heads/${name}`).then(
          () => true,
          () => false,
        );
        expect(isBranchName(name)).toBe(accepted && !name.startsWith('-') && name !== 'HEAD' && name !== '@');
      }),
      { numRuns: 150 },
    );
  });
});

describe('ensuring a worktree', () => {
  it('makes one on a new branch, once', async () => {
    const { git, request, worktree, baseSha } = at;
    expect((await sh(worktree, 'symbolic-ref', 'HEAD')).trim()).toBe('refs/heads/board/task');
    expect(Object.keys(await contents(worktree)).sort()).toEqual(['.gitignore', 'README.md', 'src/a.txt', 'src/b.txt']);
    await put(worktree, { 'src/a.txt': 'changed\n', new: 'file' });
    const again = await git.ensureWorktree(request);
    expect(again).toMatchObject({ path: worktree, branch: 'board/task', headSha: baseSha, created: false });
    expect(await readFile(join(worktree, 'src/a.txt'), 'utf8')).toBe('changed\n');
    expect(await sh(worktree, 'worktree', 'list', '--porcelain')).not.toContain('locked');
  });

  it('continues with a branch that exists', async () => {
    const { git, repository, request, directory } = at;
    const sha = await commit(repository, 'Ahead');
    await sh(repository, 'branch', 'earlier', sha);
    const worktreePath = join(directory.path, 'other');
    const made = await git.ensureWorktree({ ...request, worktreePath, branch: 'earlier' });
    expect(made).toMatchObject({ headSha: sha, created: true });
  });

  it('makes it again when its directory is gone', async () => {
    const { git, request, worktree } = at;
    await put(worktree, { 'src/a.txt': 'kept\n' });
    const sha = await commit(worktree, 'Work');
    await rm(worktree, { recursive: true });
    expect(await git.ensureWorktree(request)).toMatchObject({ headSha: sha, created: true });
    expect(await readFile(join(worktree, 'src/a.txt'), 'utf8')).toBe('kept\n');
  });

  it.each([
    ['before its files were written', async (path: string) => rm(join(path, 'src'), { recursive: true })],
    [
      'before its HEAD was written',
      async (path: string, admin: string) => {
        await Promise.all(['src', 'README.md', '.gitignore'].map((name) => rm(join(path, name), { recursive: true })));
        await writeFile(join(admin, 'HEAD'), `${'0'.repeat(40)}\n`);
      },
    ],
    [
      'before its link was written',
      async (path: string) => {
        await rm(path, { recursive: true });
        await mkdir(path);
      },
    ],
    [
      'while its index was written',
      async (_: string, admin: string) => {
        await rm(join(admin, 'index'));
        await writeFile(join(admin, 'index.lock'), 'half an index');
      },
    ],
  ])('finishes one whose making was killed %s', async (_, damage) => {
    const { git, repository, request, worktree } = at;
    const whole = await contents(worktree);
    await sh(repository, 'worktree', 'lock', '--reason', 'board: preparing', worktree);
    await damage(worktree, join(repository, '.git/worktrees/task'));
    expect(await git.ensureWorktree(request)).toMatchObject({ created: true });
    expect(await contents(worktree)).toEqual(whole);
    expect(await sh(worktree, 'status', '--porcelain')).toBe('');
    expect(await git.ensureWorktree(request)).toMatchObject({ created: false });
  });

  it('never takes what belongs to another task', async () => {
    const { git, request, directory, worktree, repository } = at;
    const refused = async (changes: Partial<typeof request>) =>
      expect(git.ensureWorktree({ ...request, ...changes })).rejects.toMatchObject({ code: 'conflict' });

    await refused({ branch: 'another' });
    await refused({ worktreePath: join(directory.path, 'elsewhere') });
    await refused({ worktreePath: repository, branch: 'third' });
    const taken = join(directory.path, 'taken');
    await put(taken, { 'notes.txt': 'mine' });
    await refused({ worktreePath: taken, branch: 'third' });
    expect(await readFile(join(taken, 'notes.txt'), 'utf8')).toBe('mine');
    const foreign = join(directory.path, 'foreign');
    await mkdir(foreign);
    await sh(foreign, 'init', '-q');
    await refused({ worktreePath: foreign, branch: 'third' });
    await sh(worktree, 'checkout', '-q', '--detach');
    await refused({});
  });

  it('reports what is unknown', async () => {
    const { git, request, directory } = at;
    const worktreePath = join(directory.path, 'other');
    const unknown = { ...request, worktreePath, branch: 'third', baseSha: '1'.repeat(40) };
    await expect(git.ensureWorktree(unknown)).rejects.toMatchObject({ code: 'unknown-ref' });
    const nowhere = { ...request, repositoryPath: join(directory.path, 'nowhere') };
    await expect(git.ensureWorktree(nowhere)).rejects.toMatchObject({ code: 'not-a-repository' });
  });

  it('runs no hooks and heeds no GIT_ variables of its own process', async () => {
    const { repository, request, directory } = at;
    const hook = join(repository, '.git/hooks/post-checkout');
    await writeFile(hook, `#!/bin/sh\ntouch ${directory.path}/hooked\n`, { mode: 0o755 });
    process.env.GIT_DIR = join(directory.path, 'nowhere');
    try {
      const worktreePath = join(directory.path, 'other');
      await createGit({ settingsDir: join(at.directory.path, 'settings') }).ensureWorktree({
        ...request,
        worktreePath,
        branch: 'third',
      });
    } finally {
      delete process.env.GIT_DIR;
    }
    await expect(readFile(join(directory.path, 'hooked'))).rejects.toThrow();
  });
});

describe('a lock', () => {
  it('is waited for, and named when it stays', async () => {
    const { repository, worktree, git } = at;
    await writeFile(join(repository, '.git/refs/heads/board/task.lock'), '');
    await put(worktree, { 'src/a.txt': 'changed' });
    const baseline = await git.captureBaseline({ worktreePath: worktree, attemptId: 'attempt_lock0001' });
    await mkdir(join(repository, '.git/refs/board/baselines'), { recursive: true });
    const lock = join(repository, '.git', `${baseline.snapshot.ref}.lock`);
    await writeFile(lock, '');
    await put(worktree, { 'src/a.txt': 'changed again' });
    const capture = () => git.captureBaseline({ worktreePath: worktree, attemptId: 'attempt_lock0001' });
    await expect(capture()).rejects.toMatchObject({ code: 'locked' });
    const waiting = capture();
    await rm(lock);
    expect((await waiting).snapshot.commit).not.toBe(baseline.snapshot.commit);
  });
});

describe('a failure', () => {
  it('holds no credentials and comes in time', async () => {
    expect(new GitError('failed', 'fatal: https://user:token@host/x.git').message).not.toContain('token');
    const bin = join(at.directory.path, 'bin');
    await mkdir(bin);
    await writeFile(join(bin, 'git'), '#!/bin/sh\nread _ < /dev/zero\n', { mode: 0o755 });
    const path = process.env.PATH;
    process.env.PATH = `${bin}:${path ?? ''}`;
    try {
      const hasty = createGit({ settingsDir: join(at.directory.path, 'settings'), timeoutMs: 50 });
      await expect(hasty.resolveBase({ repositoryPath: at.repository, branch: 'main' })).rejects.toMatchObject({
        code: 'timeout',
      });
    } finally {
      process.env.PATH = path;
    }
  });
});
