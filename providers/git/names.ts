import { GitError } from './git-error';

/** The rules of git-check-ref-format for a branch name, and no leading dash, so that it is never an option. */
export function isBranchName(name: string): boolean {
  return (
    name.length > 0 &&
    name.length <= 200 &&
    name !== '@' &&
    name !== 'HEAD' &&
    !/^[-/]|[/.]$|\/\/|\.\.|@\{/.test(name) &&
    !/[\u0000-\u0020\u007f~^:?*[\\]/.test(name) &&
    name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'))
  );
}

export function assertBranchName(name: string): void {
  if (!isBranchName(name)) throw new GitError('unknown-ref', `${JSON.stringify(name)} is not a branch name.`);
}

export function assertObjectName(sha: string): void {
  if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(sha)) {
    throw new GitError('unknown-ref', `${JSON.stringify(sha)} is not a full object name.`);
  }
}

function refOf(kind: 'baselines' | 'attempts', attemptId: string): string {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(attemptId)) {
    throw new GitError('failed', `${JSON.stringify(attemptId)} is not an attempt id.`);
  }
  return `refs/board/${kind}/${attemptId}`;
}

/** Where the state an attempt began with is kept. */
export const baselineRef = (attemptId: string): string => refOf('baselines', attemptId);

/** Where everything an attempt left is kept. */
export const attemptRef = (attemptId: string): string => refOf('attempts', attemptId);
