import { realpath } from 'node:fs/promises';
import type { Log } from '../platform/log/log';
import type { Git } from '../providers/git/git';
import { changedOutside, type OutsideChange, type OwnedByOthers } from '../runs/completion/outside';
import type { AttemptRecord } from '../stores/attempt-store';
import type { RunEventStore } from '../stores/run-event-store';
import type { WorktreeRecord, WorktreeStore } from '../stores/worktree-store';
import { sourceOf } from './source';

export interface SurroundingsDependencies {
  git: Pick<Git, 'describeSurroundings'>;
  worktrees: Pick<WorktreeStore, 'ofRepository'>;
  events: Pick<RunEventStore, 'append'>;
  /** Where the board itself merges. */
  integrationDir: string;
  log: Log;
}

/**
 * Looks for what was changed outside the worktree of an attempt since its baseline, tells of it in an event, and answers
 * it as evidence. Nothing is put back. A look that fails says nothing: the end of the run does not depend on it.
 */
export async function lookOutside(deps: SurroundingsDependencies, record: AttemptRecord): Promise<OutsideChange[]> {
  const { surroundings: before, taskEnvelope, repository } = record;
  const workspace = taskEnvelope?.workspace;
  if (!before || !workspace || !repository) return [];
  try {
    const after = await deps.git.describeSurroundings({
      worktreePath: workspace.path,
      identity: record.baseline?.identity,
    });
    // Read last: who has begun to change something has written that down before.
    const manifests = await deps.worktrees.ofRepository(repository.name);
    // Git tells paths without symbolic links.
    const integrations = await realpath(deps.integrationDir).catch(() => deps.integrationDir);
    const mine = (path: string) => path.startsWith(`${integrations}/`);
    const owned = ownedByOthers(manifests, record);
    const listed = { ...after, worktrees: after.worktrees.filter(({ path }) => !mine(path)) };
    const known = { ...before, worktrees: before.worktrees.filter(({ path }) => !mine(path)) };
    const changes = changedOutside(known, listed, owned);
    if (changes.length > 0) {
      const message = 'The repository was changed outside the worktree of this run while it went on.';
      await deps.events.append(sourceOf(record), [
        { kind: 'run.error', payload: { code: 'OUTSIDE_CHANGED', message, changes }, dedupeKey: 'outside-changed' },
      ]);
    }
    return changes;
  } catch (error) {
    deps.log.warn({ attemptId: record._id, err: error }, 'what is around a worktree could not be looked at');
    return [];
  }
}

/** The worktrees and branches of every task, this one's included, and the branches they were merged into meanwhile. */
function ownedByOthers(manifests: readonly WorktreeRecord[], { createdAt }: AttemptRecord): OwnedByOthers {
  const merged = manifests.filter(
    ({ operation, history }) =>
      operation?.kind === 'merge' || history.some(({ kind, at }) => kind === 'merge' && at >= createdAt),
  );
  return {
    branches: new Set([...manifests.map(({ branch }) => branch), ...merged.map(({ base }) => base.branch)]),
    paths: new Set(manifests.map(({ path }) => path)),
  };
}
