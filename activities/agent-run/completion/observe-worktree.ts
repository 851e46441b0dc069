import type { CompletionClaims } from '../../../contracts/runs/completion';
import type { Changes, Git } from '../../../providers/git/git';
import { GitError } from '../../../providers/git/git-error';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { ObservedEnd } from '../../../stores/runs/observed-end';
import type { WorktreeStore } from '../../../stores/runs/workspaces/worktree-store';
import { sourceOf } from '../../shared/event-source';
import { recordReplaced, worktreeReplaced } from '../../worktree/replaced';
import { findClaimedFiles } from './claimed-files';
import { detectOutsideChanges, type OutsideChangeDependencies } from './outside-changes';

export interface WorktreeObservationDependencies extends OutsideChangeDependencies {
  worktrees: Pick<WorktreeStore, 'ofRepository' | 'get' | 'change'>;
  now(): Date;
  git: Pick<Git, 'collectChanges' | 'snapshotRepository' | 'unloggedBranches'>;
}

/**
 * What git and the worktree of an attempt show at its end: what changed since its baseline, which of the files it claims exist,
 * and what was changed outside. `undefined` for an attempt without a worktree.
 */
export async function observeWorktree(
  deps: WorktreeObservationDependencies,
  record: AttemptRecord,
  claims: CompletionClaims,
): Promise<ObservedEnd | undefined> {
  const { baseline, taskEnvelope } = record;
  if (!baseline || !taskEnvelope?.workspace) {
    return undefined;
  }
  const { path: worktreePath } = taskEnvelope.workspace;
  let changes: Changes;
  try {
    changes = await deps.git.collectChanges({ worktreePath, baseline });
  } catch (error) {
    if (!isWorkLost(error)) {
      throw error;
    }
    return reportReplaced(deps, record, error);
  }
  const claimedFiles = await findClaimedFiles({ worktreePath, identity: baseline.identity }, claims);
  const outside = await detectOutsideChanges(deps, record);
  return {
    ...changes,
    ...(claimedFiles.length > 0 ? { claimedFiles } : {}),
    ...(outside.length > 0 ? { outside } : {}),
  };
}

/** Whether the work of an attempt cannot be read or stored, because its worktree or repository leads elsewhere. */
export const isWorkLost = (error: unknown): error is GitError =>
  error instanceof GitError && (error.code === 'worktree-replaced' || error.code === 'repository-diverted');

/**
 * Reports that the work of an attempt is lost, because something else replaced its worktree, or a part of its repository: in an
 * event, in the manifest of the worktree, and to the judgement of the end.
 */
export async function reportReplaced(
  deps: Pick<WorktreeObservationDependencies, 'events' | 'worktrees' | 'now' | 'log'>,
  record: AttemptRecord,
  error: GitError,
): Promise<{ workLost: string }> {
  deps.log.error({ attemptId: record._id, err: error }, 'attempt worktree replaced');
  // A repository that leads elsewhere refuses every operation until it is repaired; the worktree is unchanged.
  if (error.code === 'worktree-replaced') {
    await recordReplaced(deps, record.taskId, error);
  }
  const message = `The work of this attempt is lost: ${error.message} Nothing there was changed.`;
  const payload = { code: error.code === 'worktree-replaced' ? worktreeReplaced : 'REPOSITORY_DIVERTED', message };
  await deps.events.append(sourceOf(record), [{ kind: 'run.error', payload, dedupeKey: 'worktree-replaced' }]);
  return { workLost: message };
}
