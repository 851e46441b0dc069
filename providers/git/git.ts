import type { Log } from '../../platform/log/log';
import { type Baseline, captureBaseline } from './baseline';
import { type Changes, collectChanges } from './changes';
import { preserveAttempt } from './preserve';
import { type BranchRequest, resolveBase } from './resolve-base';
import { restoreBaseline } from './restore';
import { createGitRunner } from './run-git';
import { ensureWorktree, type Worktree, type WorktreeRequest } from './worktree';

export type { Baseline, Changes, Worktree };

/** What runs need of git. Every function can be repeated; each throws `GitError`. */
export interface Git {
  resolveBase(request: BranchRequest): Promise<{ sha: string }>;
  ensureWorktree(request: WorktreeRequest): Promise<Worktree>;
  captureBaseline(request: { worktreePath: string; attemptId: string }): Promise<Baseline>;
  collectChanges(request: { worktreePath: string; baseline: Baseline }): Promise<Changes>;
  preserveAttempt(request: {
    worktreePath: string;
    attemptId: string;
    baseline?: Baseline;
  }): Promise<{ ref: string; commit: string } | undefined>;
  restoreBaseline(request: { worktreePath: string; baseline: Baseline }): Promise<void>;
}

/**
 * Git through its command line.
 *
 * @param options.timeoutMs the longest one git command may take
 * @param options.lockWaitMs how long a lock of another git process is waited for
 */
export function createGit({
  log,
  timeoutMs = 60_000,
  lockWaitMs = 3_000,
}: { log?: Log; timeoutMs?: number; lockWaitMs?: number } = {}): Git {
  const git = createGitRunner({ timeoutMs, lockWaitMs, log });
  return {
    resolveBase: (request) => resolveBase(git, request),
    ensureWorktree: (request) => ensureWorktree(git, request),
    captureBaseline: (request) => captureBaseline(git, request),
    collectChanges: (request) => collectChanges(git, request),
    preserveAttempt: (request) => preserveAttempt(git, request),
    restoreBaseline: (request) => restoreBaseline(git, request),
  };
}
