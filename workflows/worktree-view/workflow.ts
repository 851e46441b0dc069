import type { Refusal } from '../../contracts/refusal';
import type { ConflictReading } from '../../contracts/runs/conflict';
import type { DiffReading } from '../../contracts/runs/diff';
import type { EditorOpened, WorktreeInspection } from '../../contracts/runs/worktrees/worktree';
import { openOn, readDiffOn, viewOn } from '../worktree/proxies';
import type { DiffInput, WorktreeLocation } from './messages';

/** Inspects worktrees, each on its host; `null` for one whose host does not respond. The list is bounded to a page. */
export async function worktreeInspection({
  places,
}: {
  places: WorktreeLocation[];
}): Promise<(WorktreeInspection | null)[]> {
  return Promise.all(
    places.map(({ taskId, hostId }) =>
      viewOn(hostId)
        .inspect({ taskId })
        .catch(() => null),
    ),
  );
}

/** Opens the configured editor on the worktree, on its host. */
export function worktreeOpen({ taskId, hostId, proof }: WorktreeLocation): Promise<EditorOpened | Refusal> {
  return openOn(hostId).openEditor({ taskId, proof });
}

/** Reads a diff, or conflicts, of the files of a task on the host of its worktree, where no Nexus is served. */
export function worktreeDiff({ hostId, query }: DiffInput): Promise<DiffReading | ConflictReading | Refusal> {
  return readDiffOn(hostId).readDiff(query);
}
