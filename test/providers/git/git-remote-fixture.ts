import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { aWorktree, commit, put, sh } from './git-fixture';

/** What git may change in a repository without its primary checkout being different. */
const shared = new Set(['objects', 'refs', 'logs', 'worktrees', 'packed-refs', 'board', 'modules']);

/** Hashes of everything that makes up a primary checkout: its files, HEAD, index, configuration and state. */
export async function primaryOf(repository: string, under = ''): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of await readdir(join(repository, under))) {
    if (under === '.git' && shared.has(name)) {
      continue;
    }
    const path = join(under, name);
    const facts = await lstat(join(repository, path));
    if (facts.isDirectory()) {
      Object.assign(found, { [path]: '/' }, await primaryOf(repository, path));
    } else if (facts.isSymbolicLink()) {
      found[path] = await readlink(join(repository, path));
    } else {
      const content = await readFile(join(repository, path));
      found[path] = `${facts.mode} ${createHash('sha256').update(content).digest('hex')}`;
    }
  }
  return found;
}

/**
 * `aWorktree` with a bare remote `origin` that has its base, and a second clone of that remote in which a colleague
 * works. The primary checkout has a change and an untracked file.
 */
export async function aClone() {
  const fixture = await aWorktree();
  const { directory, repository, worktree, request, git } = fixture;
  const remote = join(directory.path, 'remote.git');
  await sh(directory.path, 'init', '-q', '--bare', '-b', 'main', remote);
  await sh(repository, 'remote', 'add', 'origin', remote);
  await sh(repository, 'push', '-q', 'origin', 'main');
  /** What an operator does after a change of the repository's settings. */
  const configure = () => git.configureRepository({ repositoryPath: repository, reread: true });
  await configure();
  await put(repository, { 'src/b.txt': 'unfinished\n', 'notes.txt': 'mine\n' });
  const colleague = join(directory.path, 'colleague');
  await sh(directory.path, 'clone', '-q', remote, colleague);
  /** Commits files to the remote's base; returns the commit. */
  const advance = async (files: Record<string, string>): Promise<string> => {
    await sh(colleague, 'pull', '-q', '--ff-only');
    await put(colleague, files);
    const sha = await commit(colleague, 'Advance');
    await sh(colleague, 'push', '-q', 'origin', 'main');
    return sha;
  };
  const onBase = { repositoryPath: repository, remote: 'origin', branch: 'main' };
  /** Two commits on the branch, one on the fetched base; returns both tips. */
  const diverge = async (theirs: Record<string, string> = { 'src/theirs.txt': '1\n' }) => {
    await put(worktree, { 'src/one.txt': '1\n' });
    await commit(worktree, 'One');
    await put(worktree, { 'src/a.txt': 'ours\n' });
    const headSha = await commit(worktree, 'Two');
    await advance(theirs);
    return { headSha, ontoSha: (await git.fetchBase(onBase)).sha };
  };
  const insideDir = join(directory.path, 'worktrees');
  const inspection = { ...request, baseBranch: 'main', remote: 'origin' };
  const adminDirectory = join(repository, '.git/worktrees/task');
  const place = { directory: directory.path, adminDirectory };
  return { ...fixture, remote, colleague, advance, diverge, onBase, insideDir, inspection, place, configure };
}

export type CloneFixture = Awaited<ReturnType<typeof aClone>>;

/** The commit a name leads to. */
export const shaOf = async (cwd: string, name: string): Promise<string> => (await sh(cwd, 'rev-parse', name)).trim();
