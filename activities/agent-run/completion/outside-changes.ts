import { realpath } from 'node:fs/promises';
import { changedOutside, type OutsideChange, type OwnedByOthers } from '../../../domain/completion/outside-changes';
import type { Log } from '../../../platform/log/log';
import type { Git } from '../../../providers/git/git';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { RunEventStore } from '../../../stores/runs/event-store';
import type { WorktreeRecord, WorktreeStore } from '../../../stores/runs/workspaces/worktree-store';
import { sourceOf } from '../../shared/event-source';

export interface OutsideChangeDependencies {
  git: Pick<Git, 'snapshotRepository' | 'unloggedBranches'>;
  worktrees: Pick<WorktreeStore, 'ofRepository'>;
  events: Pick<RunEventStore, 'append'>;
  /** Where the board itself merges. */
  integrationDir: string;
  log: Log;
}

/**
 * Detects changes outside the worktree of an attempt since its baseline, records them in an event, and returns them as
 * evidence. Nothing is restored. A failed detection yields no evidence: the end of the run does not depend on it.
 */
export async function detectOutsideChanges(
  deps: OutsideChangeDependencies,
  record: AttemptRecord,
): Promise<OutsideChange[]> {
  const { surroundings: before, taskEnvelope, repository } = record;
  const workspace = taskEnvelope?.workspace;
  if (!before || !workspace || !repository) {
    return [];
  }
  try {
    const after = await deps.git.snapshotRepository({
      worktreePath: workspace.path,
      identity: record.baseline?.identity,
    });
    // Read last: every operation records its changes before it makes them.
    const manifests = await deps.worktrees.ofRepository(repository.name);
    // Git reports paths without symbolic links.
    const integrations = await realpath(deps.integrationDir).catch(() => deps.integrationDir);
    const mine = (path: string) => path.startsWith(`${integrations}/`);
    const owned = ownedByOthers(manifests, record);
    const listed = { ...after, worktrees: after.worktrees.filter(({ path }) => !mine(path)) };
    const comparable = { ...before, worktrees: before.worktrees.filter(({ path }) => !mine(path)) };
    const changes = [
      ...changedOutside(comparable, listed, owned),
      ...(record.sandbox ? await movedBranches(deps, record, manifests) : []),
    ];
    if (changes.length > 0) {
      const message = 'The repository was changed outside the worktree of this run during the run.';
      await deps.events.append(sourceOf(record), [
        { kind: 'run.error', payload: { code: 'OUTSIDE_CHANGED', message, changes }, dedupeKey: 'outside-changed' },
      ]);
    }
    return changes;
  } catch (error) {
    deps.log.warn({ attemptId: record._id, err: error }, 'outside-change detection failed');
    return [];
  }
}

/**
 * Branches of other tasks that were made after the attempt began, whose files its sandbox can write to, and that are elsewhere than
 * git's log has them. None is moved back: a tool that writes no log may have moved it for the task that has it.
 */
async function movedBranches(
  { git }: Pick<OutsideChangeDependencies, 'git'>,
  { surroundings, taskEnvelope, baseline, taskId }: AttemptRecord,
  manifests: readonly WorktreeRecord[],
): Promise<OutsideChange[]> {
  const before = new Set(surroundings?.refs?.map(({ name }) => name.replace(/^refs\/heads\//, '')));
  const later = manifests.filter(({ _id, branch }) => _id !== taskId && !before.has(branch));
  const branches = new Set(later.map(({ branch }) => branch));
  if (!taskEnvelope?.workspace || branches.size === 0) {
    return [];
  }
  const { path: worktreePath } = taskEnvelope.workspace;
  const moved = await git.unloggedBranches({ worktreePath, identity: baseline?.identity, branches });
  return moved.map(({ name, logged, actual }) => ({
    ...{ what: 'ref', target: `refs/heads/${name}`, before: logged, after: actual },
  }));
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
