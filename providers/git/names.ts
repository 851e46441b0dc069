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

type KeptKind =
  'baselines' | 'strays' | 'checkpoints' | 'rewinds' | 'attempts' | 'removed' | 'rebased' | 'integrations';

function refOf(kind: KeptKind, id: string): string {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) throw new GitError('failed', `${JSON.stringify(id)} is not an id.`);
  return `refs/board/${kind}/${id}`;
}

/** Where the state an attempt began with is kept. */
export const baselineRef = (attemptId: string): string => refOf('baselines', attemptId);

/** Where everything an attempt left is kept. */
export const attemptRef = (attemptId: string): string => refOf('attempts', attemptId);

/** Where a commit is kept that was found on the branch of an attempt after everything of that attempt was kept. */
export const strayRef = (attemptId: string, sha: string): string => `${refOf('strays', attemptId)}/${sha}`;

/** Where the worktree of an attempt is kept as it was at one of its checkpoints. */
export const checkpointRef = (attemptId: string, number: number): string =>
  `${refOf('checkpoints', attemptId)}/${number}`;

/** Where a worktree is kept as it was before it was taken back to a checkpoint. */
export const rewindRef = (id: string): string => refOf('rewinds', id);

/** Where the content of a worktree is kept that was removed by force. */
export const removedRef = (id: string): string => refOf('removed', id);

/** Where the head of a branch is kept as it was before a rebase. */
export const rebasedRef = (id: string): string => refOf('rebased', id);

/** Where a merge is kept until it is part of the base. */
export const integrationRef = (id: string): string => refOf('integrations', id);
