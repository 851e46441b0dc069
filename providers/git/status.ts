import { compact } from '../../platform/json/compact';
import type { GitRunner } from './run-git';
import { gitFields } from './run-git';

export type FileStatus = 'added' | 'modified' | 'deleted' | 'renamed' | 'untracked';

export interface StatusEntry {
  path: string;
  status: FileStatus;
  /** Blob in the index; absent for untracked files and files that are not in the index. */
  indexBlobHash?: string;
  unmerged: boolean;
}

export interface WorktreeStatus {
  headSha: string;
  /** `null` when HEAD is detached. */
  branch: string | null;
  entries: StatusEntry[];
}

const nothing = /^0+$/;

function statusOf(xy: string): FileStatus {
  if (xy.includes('D')) {
    return 'deleted';
  }
  return xy.includes('A') ? 'added' : 'modified';
}

/** Everything after the `count`th space: a path may hold spaces itself. */
const afterSpaces = (record: string, count: number): string => record.split(' ').slice(count).join(' ');

function parseEntry(record: string): StatusEntry | undefined {
  const fields = record.split(' ');
  switch (fields[0]) {
    case '1': {
      const blob = fields[7] ?? '';
      const status = statusOf(fields[1] ?? '');
      const path = afterSpaces(record, 8);
      return { path, status, unmerged: false, ...(nothing.test(blob) ? {} : { indexBlobHash: blob }) };
    }
    case 'u':
      return { path: afterSpaces(record, 10), status: 'modified', unmerged: true };
    case '?':
      return { path: record.slice(2), status: 'untracked', unmerged: false };
    default:
      return undefined;
  }
}

/** Parses `git status --porcelain=v2 --branch -z --no-renames`. */
function parseStatus(records: readonly string[]): WorktreeStatus {
  const header = (name: string): string | undefined => {
    const prefix = `# branch.${name} `;
    return records.find((record) => record.startsWith(prefix))?.slice(prefix.length);
  };
  const branch = header('head') ?? '(detached)';
  return {
    headSha: header('oid') ?? '',
    branch: branch === '(detached)' ? null : branch,
    entries: records.flatMap((record) => parseEntry(record) ?? []),
  };
}

/** HEAD, branch and every path that differs from HEAD, without taking a lock. Ignored files are left out. */
export async function readStatus(
  git: GitRunner,
  worktreePath: string,
  env?: Record<string, string>,
): Promise<WorktreeStatus> {
  // In repositories inside the worktree git would run itself, with their own configuration and its programs.
  const inside = '--ignore-submodules=dirty';
  const options = ['--porcelain=v2', '--branch', '-z', '--no-renames', '--untracked-files=all', inside];
  return parseStatus(await gitFields(git, ['status', ...options], { cwd: worktreePath, ...compact({ env }) }));
}

/** The paths that git neither tracks nor ignores. */
export const untrackedIn = ({ entries }: { entries: readonly Pick<StatusEntry, 'path' | 'status'>[] }): string[] =>
  entries.filter(({ status }) => status === 'untracked').map(({ path }) => path);
