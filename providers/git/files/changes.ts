import { join } from 'node:path';
import type { Baseline } from '../checkpoints/baseline';
import { isDamagedIndex } from '../git-error';
import { gitFields, type GitRunner } from '../run-git';
import { type FileStatus, readStatus, untrackedIn, type WorktreeStatus } from '../status';
import { relocateWorktree } from '../worktrees/worktree-location';
import { readIndex } from './index-file';
import { listedFiles } from './listed-files';
import { resolveCommit, writeWorktreeTree } from './trees';

/** The most commits that are listed. */
const listed = 1_000;
/** The longest subject of a commit, in columns: git's subject is a whole paragraph, of any length. */
const longestSubject = 500;

export interface ChangedFile {
  path: string;
  status: FileStatus;
  /** Where a renamed file was. */
  previousPath?: string;
}

export interface Changes {
  headSha: string;
  /** What is checked out; `null` for a detached HEAD, absent where git cannot read it. */
  branch?: string | null;
  /** Reachable from HEAD and not from the baseline's HEAD, the newest first. */
  commits: { sha: string; subject: string }[];
  changedFiles: ChangedFile[];
  /** Whether there are more commits or files than are listed. */
  truncated: boolean;
}

const statuses: Record<string, FileStatus> = { A: 'added', D: 'deleted', R: 'renamed' };

/** Parses `git diff-tree --name-status -z -M`. */
function parseNameStatus(fields: readonly string[], untracked: ReadonlySet<string>): ChangedFile[] {
  const files: ChangedFile[] = [];
  for (let at = 0; at + 1 < fields.length;) {
    const status = statuses[fields[at]?.[0] ?? ''] ?? 'modified';
    const [first = '', second = ''] = fields.slice(at + 1, at + 3);
    at += status === 'renamed' ? 3 : 2;
    if (status === 'renamed') {
      files.push({ path: second, status, previousPath: first });
    } else {
      files.push({ path: first, status: status === 'added' && untracked.has(first) ? 'untracked' : status });
    }
  }
  return files;
}

/** `undefined` without a readable index. */
async function withIndex<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (!isDamagedIndex(error)) {
      throw error;
    }
    return undefined;
  }
}

/** Git reports `(initial)` where HEAD leads to no commit. */
const commitOf = (status: WorktreeStatus | undefined): string | undefined =>
  status && /^[0-9a-f]+$/.test(status.headSha) ? status.headSha : undefined;

const branchOf = (status: WorktreeStatus | undefined): Pick<Changes, 'branch'> =>
  status ? { branch: status.branch } : {};

/**
 * Whether two inspections show that nothing differs from a clean baseline: the common case needs none of the rest. A file that
 * git is configured to ignore changes of does not count as unchanged.
 */
async function isUnchanged(
  git: GitRunner,
  cwd: string,
  { status, baseline }: { status: WorktreeStatus | undefined; baseline: Baseline },
): Promise<boolean> {
  if (!status || baseline.dirty || status.headSha !== baseline.headSha || status.entries.length > 0) {
    return false;
  }
  const entries = await withIndex(readIndex(git, cwd));
  return entries?.every(({ unmerged, assumed, skipped }) => !unmerged && !assumed && !skipped) ?? false;
}

/** The commits that are reachable from HEAD and not from the baseline's HEAD, the newest first; one more than are listed. */
async function commitsSince(
  git: GitRunner,
  cwd: string,
  { before, headSha }: { before: string; headSha: string },
): Promise<Changes['commits']> {
  if (headSha === before) {
    return [];
  }
  const range = ['--end-of-options', `${before}..${headSha}`];
  // Git fills a shorter subject up with spaces.
  const format = `--format=%H %<(${longestSubject},trunc)%s`;
  const log = ['log', '-z', '--no-show-signature', format, `--max-count=${listed + 1}`, ...range];
  return (await gitFields(git, log, { cwd })).map((line) => {
    const space = line.indexOf(' ');
    return { sha: line.slice(0, space), subject: line.slice(space + 1).trimEnd() };
  });
}

function foremostFirst(files: readonly ChangedFile[], isForemost: (path: string) => boolean): ChangedFile[] {
  const of = (foremost: boolean) =>
    files.filter(
      ({ path, previousPath }) => foremost === [path, previousPath ?? path].some((each) => isForemost(each)),
    );
  return [...of(true), ...of(false)];
}

export interface ChangesRequest {
  worktreePath: string;
  baseline: Baseline;
  /** Which paths are listed before all others where not all are. */
  isForemost?: (path: string) => boolean;
}

/** What is different from the baseline: commits, and files whether committed or not. Ignored files are left out. */
export async function collectChanges(
  git: GitRunner,
  { worktreePath, baseline, isForemost = () => false }: ChangesRequest,
): Promise<Changes> {
  const location = await relocateWorktree(git, { worktreePath, gitDir: baseline.gitDir, identity: baseline.identity });
  const cwd = location.path;
  const status = await withIndex(readStatus(git, cwd));
  if (await isUnchanged(git, cwd, { status, baseline })) {
    return { headSha: baseline.headSha, ...branchOf(status), commits: [], changedFiles: [], truncated: false };
  }
  const headSha = commitOf(status) ?? (await resolveCommit(git, cwd, 'HEAD')) ?? baseline.headSha;
  const commits = await commitsSince(git, cwd, { before: baseline.headSha, headSha });
  const tree = await writeWorktreeTree(git, location);
  const diff = ['diff-tree', '-r', '-z', '-M', '--name-status', '--no-ext-diff', '--no-textconv'];
  // Comparing trees needs no index, yet git reads it, and stops at a damaged one; a file that is not there is fine.
  const env = { GIT_INDEX_FILE: join(location.gitDir, 'board-no-index') };
  const fields = await gitFields(git, [...diff, `${baseline.snapshot.commit}^{tree}`, tree], { cwd, env });
  // Without a readable index it is unknown what is untracked; what changed is still known.
  const all = parseNameStatus(fields, new Set(status && untrackedIn(status)));
  const inOrder = listedFiles(all);
  const changedFiles = inOrder.length === all.length ? inOrder : listedFiles(foremostFirst(all, isForemost));
  return {
    headSha,
    ...branchOf(status),
    commits: commits.slice(0, listed),
    changedFiles,
    truncated: commits.length > listed || changedFiles.length < all.length,
  };
}
