import { dirname } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import type { WorktreeHistoryEntry, WorktreeOperation, WorktreeState } from '../../contracts/runs/worktrees/worktree';
import { compact } from '../../platform/json/compact';
import type { WorktreeChange, WorktreeRecord, WorktreeStore } from '../../stores/runs/workspaces/worktree-store';

interface RecordDependencies {
  worktrees: WorktreeStore;
  now(): Date;
}

/** The length of a lease whose caller named none, in seconds. */
export const defaultLeaseSeconds = 7 * 86_400;

/** How soon an activity that met another writer reads again. */
const nextLook = '50 milliseconds';

/** Changes the manifest as it was read; when another writer was first, the whole activity is repeated. */
export async function change(
  deps: RecordDependencies,
  read: WorktreeRecord,
  fields: WorktreeChange,
): Promise<WorktreeRecord> {
  const changed = await deps.worktrees.change(read, fields, deps.now().toISOString());
  if (changed) {
    return changed;
  }
  throw movedMeanwhile(read._id);
}

/** Repeats the activity: the manifest is no longer what was decided on. */
export const movedMeanwhile = (taskId: string): ApplicationFailure =>
  ApplicationFailure.create({
    type: 'REVISION_MOVED',
    message: `The manifest of ${taskId} changed in the meantime.`,
    nextRetryDelay: nextLook,
  });

export interface Settlement {
  operation: WorktreeOperation;
  state: WorktreeState;
  entry: Partial<WorktreeHistoryEntry>;
  fields?: WorktreeChange;
}

/** Ends an operation: the worktree is at rest again, and what happened is in its history. */
export function settle(
  deps: RecordDependencies,
  read: WorktreeRecord,
  { operation, state, entry, fields = {} }: Settlement,
): Promise<WorktreeRecord> {
  const historyEntry: WorktreeHistoryEntry = {
    at: deps.now().toISOString(),
    operationId: operation.id,
    kind: operation.kind,
    actor: operation.actor,
    result: 'done',
    ...compact({ reason: operation.reason }),
    ...entry,
  };
  return change(deps, read, {
    operation: null,
    recoverable: null,
    ...fields,
    state,
    history: [...read.history, historyEntry],
  });
}

/** An unexpired lease of an attempt; nothing else may change the worktree while there is one. */
export const heldBy = ({ lease }: WorktreeRecord, now: Date): string | null =>
  lease.ownerAttemptId !== null && lease.expiresAt > now.toISOString() ? lease.ownerAttemptId : null;

/** The directory nothing outside of which is removed for this worktree. An adopted one is where its owner put it. */
export const enclosingDir = ({ base, path }: WorktreeRecord, worktreeDir: string): string =>
  base.source === 'legacy-adopted' ? dirname(path) : worktreeDir;

/** The arguments of the worktree for git. */
export const placeOf = (record: WorktreeRecord) => ({
  repositoryPath: record.repositoryPath,
  worktreePath: record.path,
  branch: record.branch,
  baseSha: record.base.sha,
  baseBranch: record.base.branch,
  ...(record.identity ? { identity: record.identity } : {}),
  ...remoteOf(record),
});

/** The base of a branch after a rebase. */
export const rebasedBase = (
  { base }: WorktreeRecord,
  { ontoSha, fetchedAt = null }: { ontoSha: string; fetchedAt?: string | null | undefined },
): WorktreeRecord['base'] => {
  const { acknowledgement: _acknowledged, ...former } = base;
  return { ...former, sha: ontoSha, source: base.remote === null ? 'local' : 'remote', fetchedAt };
};

/** The author of commits that an actor requests. */
export const authorOf = (actor: string): { name: string; email: string } => ({
  name: actor.replace(/[<>\n]/g, ' '),
  email: 'runboard@localhost',
});

/** The message of a commit of what was not committed, when the caller gives none. */
export const workMessage = ({ _id: taskId, branch }: WorktreeRecord): string =>
  `Commit the work on ${branch}\n\nBoard-Task: ${taskId}`;

export const remoteOf = ({ base }: WorktreeRecord): { remote?: string } =>
  base.remote === null ? {} : { remote: base.remote };
