import type { Refusal } from '../../../contracts/refusal';
import type { Stopped } from '../../../contracts/runs/conflict';
import type { WorktreeRequest } from '../../../contracts/runs/worktrees/request';
import { refusal } from '../../../domain/refusal';
import { compact } from '../../../platform/json/compact';
import type { WorktreeRecord } from '../../../stores/runs/workspaces/worktree-store';
import { unused } from '../at-rest';
import type { WorktreeHostDependencies } from '../dependencies';
import { isRefusal } from '../git-failure';
import { change, placeOf, rebasedBase } from '../record';
import { conflictNotFound, nothingInProgress, unresolved } from '../refusals';
import type { Begin, Begun } from './beginning';

type RequestOf<K extends WorktreeRequest['kind']> = Extract<WorktreeRequest, { kind: K }>;

/** How a resolution is named in the history. */
const nameOf = ({ path, resolution, content }: RequestOf<'resolve'>): string =>
  [resolution, ...(content === undefined ? [] : [content]), path].join(' ');

/** Decides what a file in conflict is to become, and records it. */
export async function beginResolve(
  deps: WorktreeHostDependencies,
  { taskId, operation, request }: Begin<RequestOf<'resolve'>>,
  record: WorktreeRecord,
): Promise<Begun> {
  const evidence = await unused(deps, record);
  if ('status' in evidence) {
    return evidence;
  }
  const { path, resolution, content } = request;
  const reason = nameOf(request);
  try {
    const decided = { ...placeOf(record), path, resolution, hasText: content !== undefined };
    const target = await deps.git.conflicts.decide(decided);
    await change(deps, record, {
      state: 'resolving',
      identity: evidence.identity,
      recoverable: null,
      operation: { ...operation, kind: 'resolve', reason, resolution: { path, target, ...compact({ content }) } },
    });
    return { state: 'resolving' };
  } catch (error) {
    if (isRefusal(error, 'unknown-path')) {
      const last = record.history.findLast(({ kind }) => kind === 'resolve');
      // Requested again because its answer was lost.
      const isResolved = last?.result === 'done' && last.reason === reason;
      return isResolved ? { state: 'ready' } : conflictNotFound(taskId, { path, message: error.message });
    }
    if (isRefusal(error, 'conflict', 'unknown-ref')) {
      return refusal('CONFLICT_NOT_RESOLVABLE', error.message, { taskId, path });
    }
    throw error;
  }
}

/** Records what has stopped, to be continued. */
export async function beginContinue(
  deps: WorktreeHostDependencies,
  { taskId, operation, request }: Begin<RequestOf<'continue'>>,
  record: WorktreeRecord,
): Promise<Begun> {
  const found = await findStopped(deps, record);
  if ('status' in found) {
    return found;
  }
  const { conflictingFiles, totalConflicts } = await deps.git.conflicts.list(placeOf(record));
  if (totalConflicts > 0) {
    return unresolved(taskId, conflictingFiles);
  }
  const { stopped, identity } = found;
  await change(deps, record, {
    state: 'continuing',
    identity,
    recoverable: null,
    operation: { ...operation, kind: 'continue', stopped, ...compact({ message: request.message }) },
  });
  return { state: 'continuing' };
}

/** Records what has stopped, to be aborted. */
export async function beginAbort(
  deps: WorktreeHostDependencies,
  { operation }: Begin<RequestOf<'abort'>>,
  record: WorktreeRecord,
): Promise<Begun> {
  const found = await findStopped(deps, record);
  if ('status' in found) {
    return found;
  }
  const { stopped, identity } = found;
  await change(deps, record, {
    state: 'aborting',
    identity,
    recoverable: null,
    operation: { ...operation, kind: 'abort', stopped },
  });
  return { state: 'aborting' };
}

/** The rebase or merge that has stopped in a worktree which nothing uses. */
async function findStopped(
  deps: WorktreeHostDependencies,
  record: WorktreeRecord,
): Promise<{ stopped: Stopped; identity: WorktreeRecord['identity'] & object } | Refusal> {
  const { _id: taskId } = record;
  const evidence = await unused(deps, record);
  if ('status' in evidence) {
    return evidence;
  }
  try {
    const stopped = await deps.git.conflicts.stopped(placeOf(record));
    if (stopped && evidence.identity) {
      return { stopped, identity: evidence.identity };
    }
  } catch (error) {
    if (isRefusal(error, 'conflict')) {
      return refusal('CONFLICT_UNSUPPORTED', error.message, { taskId, path: record.path });
    }
    throw error;
  }
  return endedByHand(deps, record, evidence.headSha);
}

/** Nothing has stopped. A rebase that the manifest still has was ended with git: the worktree is free again. */
async function endedByHand(deps: WorktreeHostDependencies, record: WorktreeRecord, headSha: string): Promise<Refusal> {
  const { _id: taskId, repositoryPath, conflict } = record;
  if (!conflict) {
    return nothingInProgress(taskId, false);
  }
  const isFinished = await deps.git.isAncestor({ repositoryPath, ancestor: conflict.ontoSha, descendant: headSha });
  await change(deps, record, { conflict: null, ...(isFinished ? { base: rebasedBase(record, conflict) } : {}) });
  return nothingInProgress(taskId, true);
}
