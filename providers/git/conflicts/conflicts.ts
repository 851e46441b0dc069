import type { GitRunner } from '../run-git';
import { locateWorktree, type RecordedWorktree } from '../worktrees/worktree-location';
import { type AbortRequest, abortStopped } from './abort';
import { continueMerge, type ContinueMergeRequest } from './continue-merge';
import { continueRebase, type ContinueRebaseRequest } from './continue-rebase';
import { listConflicts, readConflict } from './read-conflicts';
import { type DecideResolution, decideResolution, resolveConflict, type ResolveRequest } from './resolve';
import { readStopped } from './unfinished';

type InRepository = RecordedWorktree & { repositoryPath: string };

/** See `Git.conflicts`. Every function can be repeated; each throws `GitError`. */
export const createConflicts = (git: GitRunner) => ({
  list: (request: InRepository) => listConflicts(git, request),
  read: (request: InRepository, path: string) => readConflict(git, request, path),
  /** The rebase or merge that has stopped; `undefined` when there is none. */
  stopped: ({ branch, ...recorded }: RecordedWorktree & { branch: string }) =>
    readStopped(git, locateWorktree(git, recorded), branch),
  decide: (request: DecideResolution) => decideResolution(git, request),
  resolve: (request: ResolveRequest) => resolveConflict(git, request),
  continueRebase: (request: ContinueRebaseRequest) => continueRebase(git, request),
  continueMerge: (request: ContinueMergeRequest) => continueMerge(git, request),
  abort: (request: AbortRequest) => abortStopped(git, request),
});

export type Conflicts = ReturnType<typeof createConflicts>;
