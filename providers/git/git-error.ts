import { withoutCredentials } from '../../platform/log/log';

/**
 * - `not-a-repository`: the directory is missing or belongs to no (or another) repository
 * - `unknown-ref`: a branch or commit does not exist
 * - `conflict`: the repository or worktree is in a state that the operation refuses
 * - `locked`: another git process holds a lock longer than is waited for
 * - `timeout`: git was ended because it took too long
 * - `failed`: anything else git says
 */
export type GitErrorCode = 'not-a-repository' | 'unknown-ref' | 'conflict' | 'locked' | 'timeout' | 'failed';

/** A git operation that did not happen. The message is for a person and holds no credentials. */
export class GitError extends Error {
  override readonly name = 'GitError';

  constructor(
    readonly code: GitErrorCode,
    message: string,
  ) {
    super(withoutCredentials(message));
  }
}

/** Whether git could not read the index, which is rebuilt from a tree rather than repaired. */
export const isDamagedIndex = (error: unknown): boolean =>
  error instanceof GitError && error.code === 'failed' && /\bindex\b/i.test(error.message);
