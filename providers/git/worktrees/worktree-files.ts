import { isAbsolute, join } from 'node:path';
import { readRefFiles } from '../refs/ref-files';
import { valueOf } from '../settings/entries';
import type { RepositoryFiles } from '../settings/from-files';
import { entriesOf, factsOf, readPlainFile } from '../settings/plain-file';
import type { ListedWorktree } from './worktree-git';

/** Beyond these git itself is faster. */
const mostWorktrees = 64;

/** The most bytes of a file that names a path, a branch or a reason. */
const longest = 8_192;

type Head = Pick<ListedWorktree, 'headSha' | 'branch'>;

/**
 * Lists the worktrees of a repository as `git worktree list` does, from what `git worktree add` and `git worktree lock` leave
 * (gitrepository-layout(5)): the primary checkout first, under its `.git` directory, and the others by their paths.
 *
 * @returns `undefined` when one of them is damaged, gone or in any way unusual: then git is to be asked
 */
export function readWorktreeList({ commonDir, settings }: RepositoryFiles): ListedWorktree[] | undefined {
  const primary = primaryHead(commonDir, valueOf(settings, 'core.bare'));
  const names = entriesOf(join(commonDir, 'worktrees'))?.map(({ name }) => name);
  if (!primary || !names || names.length > mostWorktrees) {
    return undefined;
  }
  const linked: ListedWorktree[] = [];
  for (const name of names) {
    const worktree = readWorktree(join(commonDir, 'worktrees', name));
    if (!worktree) {
      return undefined;
    }
    linked.push(worktree);
  }
  if (new Set(linked.map(({ path }) => path)).size < linked.length) {
    return undefined;
  }
  linked.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  return withCommits(commonDir, [{ path: commonDir, ...primary, locked: null, prunable: null }, ...linked]);
}

function primaryHead(commonDir: string, bare: string | undefined): Head | undefined {
  if (bare === 'true') {
    return { headSha: null, branch: null };
  }
  return bare === 'false' ? readHeadFile(commonDir) : undefined;
}

/** A worktree by its directory in the repository, without the commit of its branch. */
function readWorktree(directory: string): ListedWorktree | undefined {
  const link = textOf(join(directory, 'gitdir'));
  const [, path = ''] = /^([^\n]*[^\n/])\/\.git\n$/.exec(link ?? '') ?? [];
  const head = readHeadFile(directory);
  const locked = readPlainFile(join(directory, 'locked'), { most: longest });
  const isThere = isAbsolute(path) && factsOf(join(path, '.git')) !== undefined;
  if (!head || locked === undefined || !isThere) {
    return undefined;
  }
  return { path, ...head, locked: locked && trimmed(locked.toString('utf8')), prunable: null };
}

/** Without white space as git defines it. */
const trimmed = (text: string): string => text.replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, '');

/** Where the HEAD of a worktree is, unless it leads to no commit. */
export function readHead(commonDir: string, gitDir: string): Head | undefined {
  const head = readHeadFile(gitDir);
  return head && withCommits(commonDir, [head])?.[0];
}

/** What a HEAD names: a commit, or a branch, whose commit is in the file of the branch. */
function readHeadFile(gitDir: string): Head | undefined {
  const file = join(gitDir, 'HEAD');
  // A link may stand for the name of a branch.
  if (factsOf(file)?.isFile() !== true) {
    return undefined;
  }
  const text = textOf(file) ?? '';
  const [, headSha] = /^([0-9a-f]{40})\n$/.exec(text) ?? [];
  if (headSha !== undefined) {
    return { headSha, branch: null };
  }
  const [, branch] = /^ref: refs\/heads\/(.+)\n$/.exec(text) ?? [];
  return branch === undefined ? undefined : { headSha: null, branch };
}

/** Heads with the commits of their branches, read at once; `undefined` when one of these leads to no commit. */
function withCommits<T extends Head>(commonDir: string, heads: readonly T[]): T[] | undefined {
  const names = heads.flatMap(({ branch }) => (branch === null ? [] : [`refs/heads/${branch}`]));
  const commits = names.length === 0 ? new Map<string, string>() : readRefFiles(commonDir, names);
  if (!commits || [...commits.values()].includes(null)) {
    return undefined;
  }
  return heads.map((head) =>
    head.branch === null ? head : { ...head, headSha: commits.get(`refs/heads/${head.branch}`) ?? null },
  );
}

const textOf = (path: string): string | undefined => {
  const content = readPlainFile(path, { most: longest });
  const text = content?.toString('utf8');
  // Bytes that are no text are compared as they are by git.
  return text !== undefined && !text.includes('\uFFFD') ? text : undefined;
};
