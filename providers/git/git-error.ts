import { withoutCredentials } from '../../platform/log/log';

/**
 * - `not-a-repository`: the directory is missing or belongs to no (or another) repository
 * - `unknown-ref`: a branch or commit does not exist
 * - `unknown-remote`: no such remote is configured, or its URL is not allowed
 * - `conflict`: the repository or worktree is in a state that the operation refuses
 * - `merge-conflict`: commits do not go together; `paths` lists where
 * - `dirty`: the worktree has changes or untracked files, or cannot be shown to have none
 * - `unmerged`: there are commits that the remote or the base does not have
 * - `stale`: a branch or HEAD is not where the caller saw it
 * - `mismatch`: the worktree is on another branch, or not of this repository
 * - `worktree-replaced`: what is at the path of a worktree is not what was recorded there; nothing was touched
 * - `worktree-removed`: the directory of a worktree and what its repository records of it are gone
 * - `repository-diverted`: a symbolic link in the repository would have git write elsewhere; nothing was written
 * - `repository-damaged`: parts of the repository are gone that git cannot do without; nothing was written
 * - `unknown-path`: there is no such file
 * - `too-large`: there is more than is read for one caller
 * - `outside`: a path is not inside the directory it has to be in
 * - `worktree-locked`: the worktree was locked (`git worktree lock`)
 * - `checked-out`: the branch cannot be moved because it is checked out
 * - `fetch-failed`, `push-failed`: the remote could not be reached or refused
 * - `push-rejected`: the remote's branch has moved
 * - `locked`: another git process holds a lock longer than is waited for
 * - `fenced`: another worker was handed the worktree meanwhile; the rest was not done
 * - `timeout`: git was ended because it took too long
 * - `failed`: anything else git reports
 */
export type GitErrorCode =
  | 'not-a-repository'
  | 'unknown-ref'
  | 'unknown-remote'
  | 'conflict'
  | 'merge-conflict'
  | 'dirty'
  | 'unmerged'
  | 'stale'
  | 'mismatch'
  | 'worktree-replaced'
  | 'worktree-removed'
  | 'repository-diverted'
  | 'repository-damaged'
  | 'unknown-path'
  | 'too-large'
  | 'outside'
  | 'worktree-locked'
  | 'checked-out'
  | 'fetch-failed'
  | 'push-failed'
  | 'push-rejected'
  | 'locked'
  | 'fenced'
  | 'timeout'
  | 'failed';

/** A git operation that did not happen. The message is for a person and holds no credentials. */
export class GitError extends Error {
  override readonly name = 'GitError';

  constructor(
    readonly code: GitErrorCode,
    message: string,
    /** The files it is about, when it is about files; at most `listedPaths` of them. */
    readonly paths: readonly string[] = [],
  ) {
    super(withoutCredentials(message));
  }
}

/** The most paths an error names. */
export const listedPaths = 100;

/** Whether git could not read the index, which is rebuilt from a tree rather than repaired. */
export const isDamagedIndex = (error: unknown): boolean =>
  error instanceof GitError && error.code === 'failed' && /\bindex\b/i.test(error.message);
