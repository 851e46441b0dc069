import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { GitError, type GitErrorCode } from '../../providers/git/git-error';

/** Errors that another try may not meet again: another process is at work, for as long as it takes within reason. */
const passing: readonly GitErrorCode[] = ['locked', 'timeout'];
/** Errors that are tried again a few times, in case it was the network or a full disk. */
const perhapsPassing: readonly GitErrorCode[] = ['failed', 'fetch-failed', 'push-failed'];
const tries = 3;
/** Each of them has waited for the lock by itself; after that it is one that a killed git has left. */
const patientTries = 20;

/** The error an activity fails with: git's code as its type, and whether trying again is of use. */
export function gitFailure(error: unknown): unknown {
  if (!(error instanceof GitError)) {
    return error;
  }
  const { attempt } = Context.current().info;
  const again =
    (passing.includes(error.code) && attempt < patientTries) ||
    (perhapsPassing.includes(error.code) && attempt < tries);
  return ApplicationFailure.create({ type: error.code, message: error.message, nonRetryable: !again });
}

/** Whether git refused for one of these reasons, which leave everything unchanged. */
export const isRefusal = (error: unknown, ...codes: GitErrorCode[]): error is GitError =>
  error instanceof GitError && codes.includes(error.code);
