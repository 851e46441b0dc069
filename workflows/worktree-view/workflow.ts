import type { EditorOpened, WorktreeInspection } from '../../contracts/worktree';
import type { LaunchRefusal } from '../../contracts/launch';
import { openOn, viewOn } from '../worktree/activities';
import type { WorktreePlace } from './messages';

/** Inspects worktrees, each on its host; `null` for one whose host does not answer. A bounded page of them at most. */
export async function worktreeInspection({
  places,
}: {
  places: WorktreePlace[];
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
export function worktreeOpen({ taskId, hostId, proof }: WorktreePlace): Promise<EditorOpened | LaunchRefusal> {
  return openOn(hostId).openEditor({ taskId, proof });
}
