import { join } from 'node:path';
import type { Baseline } from '../checkpoints/baseline';
import { isDamagedIndex } from '../git-error';
import { gitFields, type GitRunner } from '../run-git';
import { type FileStatus, readStatus } from '../status';
import { relocateWorktree } from '../worktrees/worktree-location';
import { readCommit, writeWorktreeTree } from './trees';

/** The most commits and the most files that are listed. */
const listed = 1_000;

export interface ChangedFile {
  path: string;
  status: FileStatus;
  /** Where a renamed file was. */
  previousPath?: string;
}

export interface Changes {
  headSha: string;
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

/** Without a readable index it is unknown what is untracked; what changed is still known. */
async function untrackedFiles(git: GitRunner, cwd: string): Promise<Set<string>> {
  try {
    const { entries } = await readStatus(git, cwd);
    return new Set(entries.filter(({ status }) => status === 'untracked').map(({ path }) => path));
  } catch (error) {
    if (!isDamagedIndex(error)) {
      throw error;
    }
    return new Set();
  }
}

/**
 * Whether two inspections show that nothing differs from a clean baseline: the common case needs none of the rest. A file that
 * git is configured to ignore changes of does not count as unchanged.
 */
async function isUnchanged(git: GitRunner, cwd: string, { dirty, headSha }: Baseline): Promise<boolean> {
  if (dirty) {
    return false;
  }
  try {
    const status = await readStatus(git, cwd);
    if (status.headSha !== headSha || status.entries.length > 0) {
      return false;
    }
    return (await gitFields(git, ['ls-files', '-v', '-z'], { cwd })).every((line) => line.startsWith('H '));
  } catch (error) {
    if (!isDamagedIndex(error)) {
      throw error;
    }
    return false;
  }
}

/** What is different from the baseline: commits, and files whether committed or not. Ignored files are left out. */
export async function collectChanges(
  git: GitRunner,
  { worktreePath, baseline }: { worktreePath: string; baseline: Baseline },
): Promise<Changes> {
  const location = await relocateWorktree(git, { worktreePath, gitDir: baseline.gitDir, identity: baseline.identity });
  const cwd = location.path;
  if (await isUnchanged(git, cwd, baseline)) {
    return { headSha: baseline.headSha, commits: [], changedFiles: [], truncated: false };
  }
  const head = await readCommit(git, cwd, 'HEAD');
  const headSha = head?.sha ?? baseline.headSha;
  const range = ['--end-of-options', `${baseline.headSha}..${headSha}`];
  const log = ['log', '-z', '--no-show-signature', '--format=%H %s', `--max-count=${listed + 1}`, ...range];
  const commits = (await gitFields(git, log, { cwd })).map((line) => {
    const space = line.indexOf(' ');
    return { sha: line.slice(0, space), subject: line.slice(space + 1) };
  });
  const tree = await writeWorktreeTree(git, location);
  const diff = ['diff-tree', '-r', '-z', '-M', '--name-status', '--no-ext-diff', '--no-textconv'];
  // Comparing trees needs no index, yet git reads it, and stops at a damaged one; a file that is not there is fine.
  const env = { GIT_INDEX_FILE: join(location.gitDir, 'board-no-index') };
  const fields = await gitFields(git, [...diff, `${baseline.snapshot.commit}^{tree}`, tree], { cwd, env });
  const changedFiles = parseNameStatus(fields, await untrackedFiles(git, cwd));
  return {
    headSha,
    commits: commits.slice(0, listed),
    changedFiles: changedFiles.slice(0, listed),
    truncated: commits.length > listed || changedFiles.length > listed,
  };
}
