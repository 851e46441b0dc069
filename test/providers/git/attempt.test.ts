import { createHash } from 'node:crypto';
import { access, chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Baseline } from '../../../providers/git/git';
import { aWorktree, commit, contents, type GitFixture, put, sh, stateOf } from './git-fixture';

const attemptId = 'attempt_abcd1234';
let at: GitFixture;

beforeEach(async () => {
  at = await aWorktree();
});
afterEach(() => at.directory.remove());

const capture = () => at.git.captureBaseline({ worktreePath: at.worktree, attemptId });
const preserve = (baseline?: Baseline) =>
  at.git.preserveAttempt({ worktreePath: at.worktree, attemptId, ...(baseline ? { baseline } : {}) });
const restore = (baseline: Baseline) => at.git.restoreBaseline({ worktreePath: at.worktree, baseline });
const changes = (baseline: Baseline) => at.git.collectChanges({ worktreePath: at.worktree, baseline });
const show = (name: string) => sh(at.repository, 'show', name);

/** Names that break parsers that are not careful. */
const hostile = [
  'new\nline',
  'tab\there',
  '"quoted"',
  "it's",
  '-rf',
  'ümläut',
  ' lead',
  'trail ',
  'back\\slash',
  '🎈',
  ':(glob)*',
];

/** A worktree in every kind of uncommitted state at once. */
async function makeDirty(): Promise<void> {
  const { worktree } = at;
  await put(worktree, { 'src/a.txt': 'staged\n', staged: 'new and staged\n' });
  await sh(worktree, 'add', '-A');
  await put(worktree, { 'src/a.txt': 'staged, then changed\n', untracked: 'notes\n', 'ignored/cache': 'c' });
  await sh(worktree, 'rm', '-q', '--cached', 'src/b.txt');
  await rm(join(worktree, 'README.md'));
  await symlink('/etc/passwd', join(worktree, 'link'));
}

describe('a baseline', () => {
  it('of a clean worktree is its HEAD', async () => {
    const { worktree, baseSha } = at;
    const baseline = await capture();
    expect(baseline).toMatchObject({ attemptId, headSha: baseSha, branch: 'board/task', dirty: false, files: [] });
    expect((await sh(worktree, 'diff', baseSha, baseline.snapshot.ref)).trim()).toBe('');
  });

  it('of a dirty one lists every file with its hashes and leaves the index alone', async () => {
    const { worktree } = at;
    await makeDirty();
    const before = await stateOf(worktree);
    const baseline = await capture();
    expect(await stateOf(worktree)).toEqual(before);

    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    const staged = (await sh(worktree, 'rev-parse', ':src/a.txt')).trim();
    expect(baseline.dirty).toBe(true);
    expect(baseline.files).toEqual(
      expect.arrayContaining([
        {
          path: 'src/a.txt',
          status: 'modified',
          indexBlobHash: staged,
          worktreeSha256: sha256('staged, then changed\n'),
        },
        { path: 'untracked', status: 'untracked', worktreeSha256: sha256('notes\n') },
        { path: 'link', status: 'untracked', worktreeSha256: sha256('/etc/passwd') },
        { path: 'README.md', status: 'deleted', indexBlobHash: expect.any(String) },
      ]),
    );
    expect(baseline.files.map(({ path }) => path)).not.toContain('ignored/cache');
    expect(await show(`${baseline.snapshot.ref}:untracked`)).toBe('notes\n');
    expect(await show(`${baseline.snapshot.ref}^2:src/a.txt`)).toBe('staged\n');
  });

  it('is the same when it is taken again', async () => {
    await makeDirty();
    expect(await capture()).toEqual(await capture());
  });

  it('is bounded, but its snapshot is whole', async () => {
    const { worktree } = at;
    await put(worktree, Object.fromEntries(Array.from({ length: 1_100 }, (_, n) => [`many/${n}`, `${n}`])));
    const baseline = await capture();
    expect(baseline.files).toHaveLength(1_000);
    expect(baseline.truncated).toBe(true);
    expect(await show(`${baseline.snapshot.ref}:many/1099`)).toBe('1099');
  });

  it('is not taken of an unfinished merge or rebase', async () => {
    const { worktree, repository } = at;
    await put(repository, { 'src/a.txt': 'theirs\n' });
    await commit(repository, 'Theirs');
    await put(worktree, { 'src/a.txt': 'ours\n' });
    await commit(worktree, 'Ours');
    for (const operation of ['merge', 'rebase']) {
      await expect(sh(worktree, operation, 'main')).rejects.toThrow();
      await expect(capture()).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining(operation) });
      await sh(worktree, operation, '--abort');
    }
  });

  it('is not taken of a directory inside a worktree, or of none', async () => {
    const { git, directory, worktree } = at;
    for (const worktreePath of [join(worktree, 'src'), directory.path, 'relative']) {
      await expect(git.captureBaseline({ worktreePath, attemptId })).rejects.toMatchObject({
        code: 'not-a-repository',
      });
    }
    await expect(git.captureBaseline({ worktreePath: worktree, attemptId: '../x' })).rejects.toThrow(/is not an id/);
  });
});

describe('changes', () => {
  it('are commits and files, whether committed or not, against a dirty baseline', async () => {
    const { worktree } = at;
    await put(worktree, { 'src/a.txt': 'mine before\n', before: 'there before\n' });
    const baseline = await capture();
    expect(await changes(baseline)).toMatchObject({ commits: [], changedFiles: [], truncated: false });

    await put(worktree, { 'src/b.txt': 'committed change\n', added: 'a\n' });
    await sh(worktree, 'add', 'src/b.txt', 'added');
    await sh(worktree, 'commit', '-q', '-m', 'First\n\nwith a body');
    await sh(worktree, 'commit', '-q', '--allow-empty', '-m', 'Second: "quoted" subject');
    await rm(join(worktree, 'README.md'));
    await rename(join(worktree, 'before'), join(worktree, 'after'));
    await put(worktree, { 'new file': 'untracked\n', 'ignored/x': 'x' });

    const found = await changes(baseline);
    expect(found.headSha).toBe((await sh(worktree, 'rev-parse', 'HEAD')).trim());
    expect(found.commits.map(({ subject }) => subject)).toEqual(['Second: "quoted" subject', 'First']);
    expect(found.changedFiles.sort((a, b) => a.path.localeCompare(b.path))).toEqual([
      { path: 'added', status: 'added' },
      { path: 'after', status: 'renamed', previousPath: 'before' },
      { path: 'new file', status: 'untracked' },
      { path: 'README.md', status: 'deleted' },
      { path: 'src/b.txt', status: 'modified' },
    ]);
  });

  it('survive hostile names', async () => {
    const { worktree } = at;
    const baseline = await capture();
    await put(worktree, Object.fromEntries(hostile.map((name) => [name, `content of ${name}`])));
    const found = await changes(baseline);
    expect(found.changedFiles.map(({ path }) => path).sort()).toEqual([...hostile].sort());
    const kept = (await preserve())!;
    for (const name of hostile) {
      expect(await show(`${kept.ref}:${name}`)).toBe(`content of ${name}`);
    }
    await restore(baseline);
    expect(await sh(worktree, 'status', '--porcelain')).toBe('');
  });

  it('are found without a readable index and without .git', async () => {
    const { worktree, repository } = at;
    const baseline = await capture();
    await put(worktree, { 'src/a.txt': 'changed\n', fresh: 'x\n' });
    await writeFile(join(repository, '.git/worktrees/task/index'), 'not an index');
    await rm(join(worktree, '.git'));
    const found = await changes(baseline);
    expect(found.headSha).toBe(at.baseSha);
    expect(found.changedFiles).toEqual([
      { path: 'fresh', status: 'added' },
      { path: 'src/a.txt', status: 'modified' },
    ]);
  });

  it('are bounded', async () => {
    const { worktree } = at;
    const baseline = await capture();
    await put(worktree, Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`many/${n}`, `${n}`])));
    const found = await changes(baseline);
    expect(found.changedFiles).toHaveLength(1_000);
    expect(found.truncated).toBe(true);
  });
});

describe('preserving', () => {
  it('keeps nothing of an attempt that changed nothing', async () => {
    await makeDirty();
    await capture();
    expect(await preserve()).toBeUndefined();
  });

  it('keeps commits, changes and untracked files as one commit on HEAD, once', async () => {
    const { worktree } = at;
    await makeDirty();
    await capture();
    const head = await commit(worktree, 'Work');
    await put(worktree, { 'src/a.txt': 'not committed\n', fresh: 'untracked\n', 'ignored/y': 'y' });
    const before = await stateOf(worktree);

    const kept = (await preserve())!;
    expect(await stateOf(worktree)).toEqual(before);
    expect(kept.ref).toBe(`refs/board/attempts/${attemptId}`);
    expect((await sh(worktree, 'rev-parse', `${kept.ref}^`)).trim()).toBe(head);
    expect(await show(`${kept.ref}:src/a.txt`)).toBe('not committed\n');
    expect(await show(`${kept.ref}:fresh`)).toBe('untracked\n');
    await expect(show(`${kept.ref}:ignored/y`)).rejects.toThrow();

    await put(worktree, { fresh: 'half restored\n' });
    expect(await preserve()).toEqual(kept);
    expect(await show(`${kept.ref}:fresh`)).toBe('untracked\n');
  });

  it('points at HEAD when everything was committed', async () => {
    await capture();
    await put(at.worktree, { fresh: 'x' });
    const head = await commit(at.worktree, 'Work');
    expect(await preserve()).toMatchObject({ commit: head });
  });

  it('keeps the branch the attempt left, and what a rebase had stashed', async () => {
    const { worktree, repository } = at;
    await capture();
    await put(worktree, { 'src/a.txt': 'ours\n' });
    const ours = await commit(worktree, 'Ours');
    await put(repository, { 'src/a.txt': 'theirs\n' });
    const theirs = await commit(repository, 'Theirs');
    await put(worktree, { 'src/b.txt': 'put away\n' });
    await expect(sh(worktree, 'rebase', '--autostash', 'main')).rejects.toThrow();

    const kept = (await preserve())!;
    const parents = (await sh(worktree, 'rev-parse', `${kept.ref}^@`)).trim().split('\n');
    expect(parents.slice(0, 2)).toEqual([theirs, ours]);
    expect(await show(`${parents[2]}:src/b.txt`)).toBe('put away\n');
  });

  it('sees changes in files that git is configured to skip', async () => {
    const { worktree } = at;
    const baseline = await capture();
    await sh(worktree, 'update-index', '--assume-unchanged', 'src/a.txt');
    await sh(worktree, 'update-index', '--skip-worktree', 'src/b.txt');
    await put(worktree, { 'src/a.txt': 'hidden a\n', 'src/b.txt': 'hidden b\n' });
    const kept = (await preserve())!;
    expect(await show(`${kept.ref}:src/a.txt`)).toBe('hidden a\n');
    expect(await show(`${kept.ref}:src/b.txt`)).toBe('hidden b\n');
    await restore(baseline);
    expect(await readFile(join(worktree, 'src/a.txt'), 'utf8')).toBe('a\n');
    expect(await readFile(join(worktree, 'src/b.txt'), 'utf8')).toBe('b\n');
  });

  it('sees a change of the same length in the same instant', async () => {
    const { worktree } = at;
    await capture();
    for (let round = 0; round < 10; round += 1) {
      await writeFile(join(worktree, 'src/a.txt'), `${round}\n`);
      await sh(worktree, 'add', 'src/a.txt');
      await writeFile(join(worktree, 'src/a.txt'), `${9 - round}\n`);
      const baseline = await at.git.captureBaseline({ worktreePath: worktree, attemptId: `attempt_round${round}` });
      expect(await show(`${baseline.snapshot.ref}:src/a.txt`)).toBe(`${9 - round}\n`);
    }
  });
});

describe('restoring', () => {
  const damages: Record<string, () => Promise<unknown>> = {
    'commits and files': async () => {
      await commit(at.worktree, 'Work');
      await put(at.worktree, { 'src/a.txt': 'x', 'new/dir/file': 'y' });
    },
    'another branch': async () => {
      await sh(at.worktree, 'checkout', '-q', '-f', '-b', 'elsewhere');
      await commit(at.worktree, 'Elsewhere');
    },
    'a detached HEAD and a deleted branch': async () => {
      await sh(at.worktree, 'checkout', '-q', '--detach');
      await sh(at.worktree, 'branch', '-D', 'board/task');
    },
    'a reset branch': async () => {
      await commit(at.worktree, 'Work');
      await sh(at.worktree, 'update-ref', 'refs/heads/board/task', await orphan());
    },
    'an unfinished merge': async () => unfinished('merge'),
    'an unfinished rebase': async () => unfinished('rebase'),
    'an unfinished cherry-pick': async () => unfinished('cherry-pick'),
    'locks of killed processes': async () => {
      const admin = join(at.repository, '.git/worktrees/task');
      await put(at.worktree, { 'src/a.txt': 'x' });
      await writeFile(join(admin, 'index.lock'), '');
      await writeFile(join(admin, 'HEAD.lock'), '');
      await writeFile(join(at.repository, '.git/refs/heads/board/task.lock'), '');
    },
    'files in the place of directories and the other way round': async () => {
      await rm(join(at.worktree, 'src'), { recursive: true });
      await writeFile(join(at.worktree, 'src'), 'a file');
      await rm(join(at.worktree, '.gitignore'));
      await put(at.worktree, { '.gitignore/x': 'a directory' });
    },
    'a link out of the worktree': async () => {
      const outside = join(at.directory.path, 'outside');
      await put(outside, { 'a.txt': 'precious', 'c.txt': 'precious' });
      await rm(join(at.worktree, 'src'), { recursive: true });
      await symlink(outside, join(at.worktree, 'src'));
    },
    'a changed .gitignore': async () =>
      put(at.worktree, { '.gitignore': '*\n', 'src/hidden.txt': 'h', 'deep/er/hidden': 'h' }),
    'executable bits': async () => chmod(join(at.worktree, 'src/b.txt'), 0o755),
    'a removed .git': async () => {
      await put(at.worktree, { fresh: 'x' });
      await rm(join(at.worktree, '.git'));
    },
    'a repository in the place of .git': async () => {
      await rm(join(at.worktree, '.git'));
      await sh(at.worktree, 'init', '-q');
      await commit(at.worktree, 'Mine');
    },
    'a removed worktree': async () => rm(at.worktree, { recursive: true }),
    'a damaged index': async () => writeFile(join(at.repository, '.git/worktrees/task/index'), 'not an index'),
    'a repository of its own inside': async () => {
      await mkdir(join(at.worktree, 'nested'));
      await sh(join(at.worktree, 'nested'), 'init', '-q');
      await put(at.worktree, { 'nested/file': 'x' });
      await commit(join(at.worktree, 'nested'), 'Nested');
    },
  };

  const orphan = async (): Promise<string> => {
    const tree = (await sh(at.worktree, 'rev-parse', 'HEAD^{tree}')).trim();
    return (await sh(at.worktree, 'commit-tree', tree, '-m', 'No parent')).trim();
  };

  async function unfinished(operation: string): Promise<void> {
    await put(at.repository, { 'src/a.txt': 'theirs\n' });
    await commit(at.repository, 'Theirs');
    await put(at.worktree, { 'src/a.txt': 'ours\n' });
    await commit(at.worktree, 'Ours');
    await expect(sh(at.worktree, operation, 'main')).rejects.toThrow();
  }

  describe.each(['clean', 'dirty'])('a %s baseline', (kind) => {
    it.each(Object.keys(damages))('after %s', async (name) => {
      const { worktree } = at;
      if (kind === 'dirty') {
        await makeDirty();
      }
      const before = await stateOf(worktree);
      const baseline = await capture();
      await damages[name]!();
      await preserve(baseline);
      await restore(baseline);
      const ignored = (files: Record<string, string>) =>
        Object.fromEntries(Object.entries(files).filter(([path]) => !path.startsWith('ignored/')));
      const after = await stateOf(worktree);
      expect({ ...after, files: ignored(after.files) }).toEqual({ ...before, files: ignored(before.files) });
      await restore(baseline);
      expect(await stateOf(worktree)).toEqual(after);
    });
  });

  it('keeps what was inside a repository the agent made, and what is outside', async () => {
    const baseline = await capture();
    await damages['a repository of its own inside']!();
    await damages['a link out of the worktree']!();
    await restore(baseline);
    const aside = Object.keys(await contents(join(at.repository, '.git/worktrees/task/set-aside')));
    expect(aside.some((path) => path.endsWith('nested/file'))).toBe(true);
    expect(Object.keys(await contents(join(at.directory.path, 'outside')))).toEqual(['a.txt', 'c.txt']);
  });

  it('brings a detached HEAD back', async () => {
    await sh(at.worktree, 'checkout', '-q', '--detach');
    const before = await stateOf(at.worktree);
    const baseline = await capture();
    expect(baseline.branch).toBeNull();
    await sh(at.worktree, 'checkout', '-q', 'board/task');
    await commit(at.worktree, 'Work');
    await restore(baseline);
    expect(await stateOf(at.worktree)).toEqual(before);
  });

  it('keeps ignored files', async () => {
    const baseline = await capture();
    await put(at.worktree, { 'ignored/module': 'expensive to build' });
    await restore(baseline);
    await access(join(at.worktree, 'ignored/module'));
  });

  it('never touches a primary checkout', async () => {
    const { git, repository } = at;
    const baseline = await git.captureBaseline({ worktreePath: repository, attemptId });
    await put(repository, { 'mine.txt': 'precious' });
    await expect(git.restoreBaseline({ worktreePath: repository, baseline })).rejects.toMatchObject({
      code: 'not-a-repository',
    });
    expect(await readFile(join(repository, 'mine.txt'), 'utf8')).toBe('precious');
  });
});
