import type { HarnessEvidence } from '../../contracts/runs/completion';

/** What git and the worktree show at the end of a run. */
export type ObservedEnd = Pick<
  HarnessEvidence,
  | 'headSha'
  | 'branch'
  | 'commits'
  | 'changedFiles'
  | 'truncated'
  | 'claimedFiles'
  | 'outside'
  | 'workLost'
  | 'committed'
  | 'uncommitted'
  | 'preservedRef'
>;
