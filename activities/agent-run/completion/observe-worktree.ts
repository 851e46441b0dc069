import type { CompletionClaims } from '../../../contracts/runs/completion';
import { judgementOf, mayViolate } from '../../../domain/completion';
import type { Changes, Git } from '../../../providers/git/git';
import { GitError, type GitErrorCode } from '../../../providers/git/git-error';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { ObservedEnd } from '../../../stores/runs/observed-end';
import type { PhaseStore } from '../../../stores/runs/phase-store';
import type { WorktreeStore } from '../../../stores/runs/workspaces/worktree-store';
import { sourceOf } from '../../shared/event-source';
import { recordReplaced, worktreeReplaced } from '../../worktree/replaced';
import { findClaimedFiles } from './claimed-files';
import { detectOutsideChanges, type OutsideChangeDependencies } from './outside-changes';

export interface WorktreeObservationDependencies extends OutsideChangeDependencies {
  worktrees: Pick<WorktreeStore, 'ofRepository' | 'get' | 'change'>;
  /** What the run was allowed when. */
  phases: Pick<PhaseStore, 'get'>;
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
  let claimedFiles: Awaited<ReturnType<typeof findClaimedFiles>>;
  try {
    const isForemost = mayViolate(taskEnvelope, judgementOf(record, await deps.phases.get(record._id)));
    changes = await deps.git.collectChanges({ worktreePath, baseline, isForemost });
    claimedFiles = await findClaimedFiles({ worktreePath, identity: baseline.identity }, claims);
  } catch (error) {
    if (isTooMuch(error)) {
      return reportNotStored(deps, record, error);
    }
    if (!isWorkLost(error)) {
      throw error;
    }
    return reportReplaced(deps, record, error);
  }
  const outside = await detectOutsideChanges(deps, record);
  return {
    ...changes,
    ...(claimedFiles.length > 0 ? { claimedFiles } : {}),
    ...(outside.length > 0 ? { outside } : {}),
  };
}

/** The codes of errors after which no repetition finds the work of an attempt, and of the event that reports each. */
const lossCodes: Partial<Record<GitErrorCode, string>> = {
  'worktree-replaced': worktreeReplaced,
  'worktree-removed': 'WORKTREE_REMOVED',
  'repository-diverted': 'REPOSITORY_DIVERTED',
  'repository-damaged': 'REPOSITORY_DAMAGED',
};

/** Whether the work of an attempt cannot be read or stored, because its worktree or repository is damaged or leads elsewhere. */
export const isWorkLost = (error: unknown): error is GitError =>
  error instanceof GitError && lossCodes[error.code] !== undefined;

/** Whether git did not come to an end with what is in a worktree, such as a file of many gigabytes: another try takes as long. */
export const isTooMuch = (error: unknown): error is GitError => error instanceof GitError && error.code === 'timeout';

/**
 * Reports that the work of an attempt is lost, because its worktree, or a part of its repository, was replaced or removed: in an
 * event, in the manifest of a replaced worktree, and to the judgement of the end.
 */
export async function reportReplaced(
  deps: Pick<WorktreeObservationDependencies, 'events' | 'worktrees' | 'now' | 'log'>,
  record: AttemptRecord,
  error: GitError,
): Promise<{ workLost: string }> {
  deps.log.error({ attemptId: record._id, err: error }, 'attempt worktree lost');
  // A damaged repository refuses every operation until it is repaired, and the next run makes a removed worktree again.
  if (error.code === 'worktree-replaced') {
    await recordReplaced(deps, record.taskId, error);
  }
  const unchanged = error.code === 'worktree-removed' ? 'Its branch stays as it is.' : 'Nothing there was changed.';
  const message = `The work of this attempt is lost: ${error.message} ${unchanged}`;
  const payload = { code: lossCodes[error.code], message };
  await deps.events.append(sourceOf(record), [{ kind: 'run.error', payload, dedupeKey: 'worktree-replaced' }]);
  return { workLost: message };
}

/** Whether git, or the file system, failed in a worktree that is still held; the stores fail otherwise. */
export const isOfWorktree = (error: unknown): error is Error =>
  error instanceof GitError ? error.code !== 'fenced' : error instanceof Error && 'syscall' in error && 'path' in error;

/** Reports that git could not store what an attempt left, or restore its worktree, in time for its end: all of it is still there. */
export async function reportNotStored(
  deps: Pick<WorktreeObservationDependencies, 'events' | 'log'>,
  record: AttemptRecord,
  error: Error,
): Promise<{ workLost: string }> {
  deps.log.error({ attemptId: record._id, err: error }, 'attempt work not stored');
  const message = `What this attempt left was not stored and stays in its worktree: ${error.message}`;
  const payload = { code: 'WORKTREE_NOT_RESTORED', message };
  await deps.events.append(sourceOf(record), [{ kind: 'run.error', payload, dedupeKey: 'worktree-not-restored' }]);
  return { workLost: message };
}
