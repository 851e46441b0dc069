import type { CompletionClaims } from '../contracts/completion';
import type { Git } from '../providers/git/git';
import type { AttemptRecord, ObservedEnd } from '../stores/attempt-store';
import { findClaimedFiles } from './claimed-files';
import { lookOutside, type SurroundingsDependencies } from './surroundings';

export interface WorktreeObservationDependencies extends SurroundingsDependencies {
  git: Pick<Git, 'collectChanges' | 'describeSurroundings'>;
}

/**
 * What git and the worktree of an attempt show at its end: what changed since its baseline, which of the files it claims
 * are there, and what was changed outside. `undefined` for an attempt without a worktree.
 */
export async function observeWorktree(
  deps: WorktreeObservationDependencies,
  record: AttemptRecord,
  claims: CompletionClaims,
): Promise<ObservedEnd | undefined> {
  const { baseline, taskEnvelope } = record;
  if (!baseline || !taskEnvelope?.workspace) return undefined;
  const { path: worktreePath } = taskEnvelope.workspace;
  const changes = await deps.git.collectChanges({ worktreePath, baseline });
  const claimedFiles = await findClaimedFiles(worktreePath, claims);
  const outside = await lookOutside(deps, record);
  return {
    ...changes,
    ...(claimedFiles.length > 0 ? { claimedFiles } : {}),
    ...(outside.length > 0 ? { outside } : {}),
  };
}
