import { isBranchName } from '../../../contracts/common';
import { GitError } from '../git-error';

export function assertBranchName(name: string): void {
  if (!isBranchName(name)) {
    throw new GitError('unknown-ref', `${JSON.stringify(name)} is not a branch name.`);
  }
}

export function assertObjectName(sha: string): void {
  if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(sha)) {
    throw new GitError('unknown-ref', `${JSON.stringify(sha)} is not a full object name.`);
  }
}

type KeptKind =
  | 'baselines'
  | 'strays'
  | 'checkpoints'
  | 'rewinds'
  | 'attempts'
  | 'removed'
  | 'rebased'
  | 'integrations'
  | 'results'
  | 'continued'
  | 'aborted';

function refOf(kind: KeptKind, id: string): string {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) {
    throw new GitError('failed', `${JSON.stringify(id)} is not an id.`);
  }
  return `refs/board/${kind}/${id}`;
}

/** The reference to the state an attempt began with. */
export const baselineRef = (attemptId: string): string => refOf('baselines', attemptId);

/** The reference to everything an attempt left. */
export const attemptRef = (attemptId: string): string => refOf('attempts', attemptId);

/** The reference to the commit of what was uncommitted at the end of an attempt, or before a merge. */
export const resultRef = (id: string): string => refOf('results', id);

/** The reference to a commit on an attempt's branch that was made after everything of the attempt was stored. */
export const strayRef = (attemptId: string, sha: string): string => `${refOf('strays', attemptId)}/${sha}`;

/** The reference to the worktree of an attempt at one of its checkpoints. */
export const checkpointRef = (attemptId: string, number: number): string =>
  `${refOf('checkpoints', attemptId)}/${number}`;

/** The reference to a worktree before it was rewound to a checkpoint. */
export const rewindRef = (id: string): string => refOf('rewinds', id);

/** The reference to the content of a worktree that was removed by force. */
export const removedRef = (id: string): string => refOf('removed', id);

/** The reference to the head of a branch before a rebase. */
export const rebasedRef = (id: string): string => refOf('rebased', id);

/** The reference to the resolved commit that a rebase or merge was continued with. */
export const continuedRef = (id: string): string => refOf('continued', id);

/** The reference to the worktree before a rebase or merge in it was aborted. */
export const abortedRef = (id: string): string => refOf('aborted', id);

/** The reference to a merge until it is part of the base. */
export const integrationRef = (id: string): string => refOf('integrations', id);
