import { lstat, mkdir, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeTempDir } from '../../../platform/testing/temp-dir';
import { createGit } from '../../../providers/git/git';
import { programOutput } from '../../support/processes/program-output';

const identity = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@x', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@x' };

/** Runs git as a person would: with hooks, and without what the provider sets. */
export function sh(cwd: string, ...args: string[]): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: cwd, ...identity, GIT_EDITOR: 'true' };
  return programOutput({ file: 'git', args: ['-c', 'core.quotePath=false', ...args], cwd, env });
}

export async function put(root: string, files: Record<string, string | Buffer>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}

export async function commit(cwd: string, message: string): Promise<string> {
  await sh(cwd, 'add', '-A');
  await sh(cwd, 'commit', '-q', '--allow-empty', '-m', message);
  return (await sh(cwd, 'rev-parse', 'HEAD')).trim();
}

/** Every file of a directory but `.git`, with what is in it. */
export async function contents(root: string, under = ''): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of await readdir(join(root, under))) {
    const path = join(under, name);
    if (path === '.git') {
      continue;
    }
    const facts = await lstat(join(root, path));
    if (facts.isDirectory()) {
      Object.assign(found, await contents(root, path));
    } else if (facts.isSymbolicLink()) {
      found[path] = `-> ${await readlink(join(root, path))}`;
    } else {
      found[path] = `${facts.mode & 0o100 ? 'x' : '-'} ${await readFile(join(root, path), 'base64')}`;
    }
  }
  return found;
}

/** All that a baseline promises to bring back. */
export async function stateOf(worktree: string) {
  const head = await sh(worktree, 'rev-parse', '--symbolic-full-name', 'HEAD');
  const status = await sh(worktree, 'status', '--porcelain=v2', '--branch', '-z', '--untracked-files=all');
  return { head, status: status.split('\0'), files: await contents(worktree) };
}

/** A repository with one commit, and a worktree of it on the branch `board/task`. */
export async function aWorktree() {
  const directory = await makeTempDir('git');
  const repository = join(directory.path, 'repository');
  await mkdir(repository);
  await sh(repository, 'init', '-q', '-b', 'main');
  await put(repository, {
    'README.md': '# Sample\n',
    'src/a.txt': 'a\n',
    'src/b.txt': 'b\n',
    '.gitignore': 'ignored/\n',
  });
  const baseSha = await commit(repository, 'Begin');
  const git = createGit({ settingsDir: join(directory.path, 'settings'), timeoutMs: 20_000, lockWaitMs: 300 });
  const request = {
    repositoryPath: repository,
    worktreePath: join(directory.path, 'worktrees', 'task'),
    branch: 'board/task',
    baseSha,
  };
  const { path: worktree } = await git.ensureWorktree(request);
  return { directory, repository, worktree, baseSha, git, request };
}

export type GitFixture = Awaited<ReturnType<typeof aWorktree>>;

/** `aWorktree` that can be captured, and an agent that works on in it. */
export async function aRewindableWorktree() {
  const fixture = await aWorktree();
  const { worktree, baseSha, git } = fixture;
  const capture = async (number: number) => {
    const since = { tree: `${baseSha}^{tree}`, headSha: '0'.repeat(40) };
    const attemptId = 'attempt_12345678';
    return (await git.captureCheckpoint({ worktreePath: worktree, attemptId, number, since }))!;
  };
  /** What an agent does to it. */
  const work = async (): Promise<void> => {
    await rm(join(worktree, 'dir'), { recursive: true });
    await put(worktree, { dir: 'a file now\n', 'src/b.txt': 'agent\n', 'new/deep/file.txt': 'new\n' });
    await commit(worktree, 'Work');
    await put(worktree, { 'src/a.txt': 'later\n' });
  };
  /** A captured dirty state with staged and unstaged changes, and then work on top of it, committed in part. */
  const workedOn = async () => {
    await put(worktree, { 'src/a.txt': 'staged\n', 'dir/x.txt': 'x\n' });
    await sh(worktree, 'add', 'src/a.txt');
    await put(worktree, { 'src/a.txt': 'unstaged\n' });
    const target = await capture(1);
    const state = await stateOf(worktree);
    await work();
    return { target, state };
  };
  return { ...fixture, capture, work, workedOn };
}

export type RewindableWorktree = Awaited<ReturnType<typeof aRewindableWorktree>>;
