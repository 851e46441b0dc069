import type { BoardDiagnostic, Task } from '../../../contracts/tasks/task';
import { conflict } from '../../../platform/errors/app-error';
import type { TaskFile } from '../board-file';
import type { TaskIndex } from '../index/task-index';
import { claimsOf, statedIdsOf } from './business-id';
import { partsOf, type TaskPath } from './layout';

/** One file that claims an identity. */
interface ConflictSource {
  location: string;
  path: string;
  filename: string;
  taskId: string;
  title: string;
  businessIds: string[];
}

interface IdentityConflict {
  kind: 'task-id' | 'business-id';
  id: string;
  sources: ConflictSource[];
}

/** The files of tasks that claim a business id and that the index of this process may not have yet. */
export type UnindexedClaimants = (businessId: string) => readonly TaskFile[];

export const noClaimants: UnindexedClaimants = () => [];

interface IdentityChange {
  operation: string;
  destinationPath: TaskPath;
  unindexed?: UnindexedClaimants;
}

/**
 * Refuses to change a task that is one of several with its identity (specification 1, "Errors", 2).
 *
 * @param task as it would be after the change, so that a change may end the conflict
 * @throws AppError 409
 */
export function assertUniqueIdentity(
  index: TaskIndex,
  task: Task,
  { operation, destinationPath, unindexed = noClaimants }: IdentityChange,
): void {
  const conflicts: IdentityConflict[] = [];
  const sameId = index.filesOf(task.id);
  if (sameId.length > 1) {
    conflicts.push({ kind: 'task-id', id: task.id, sources: sameId.map(sourceOf) });
  }
  for (const id of claimsOf(task)) {
    const files = new Map([...index.claimantsOf(id), ...unindexed(id)].map((file) => [file.task.id, file]));
    const others = [...files.values()].filter((file) => file.task.id !== task.id);
    if (others.length > 0) {
      const stated = statedIdsOf(task).find((each) => each.toLowerCase() === id) ?? id;
      conflicts.push({ kind: 'business-id', id: stated, sources: others.map(sourceOf) });
    }
  }
  if (conflicts.length === 0) {
    return;
  }
  const duplicateIds = conflicts.map((one) => one.id);
  throw conflict('Duplicate task identity detected', {
    operation,
    taskId: task.id,
    destinationPath,
    duplicateIds,
    conflicts,
  });
}

/** One entry per file and identity that it shares with another file. */
export function duplicateDiagnostics(index: TaskIndex): BoardDiagnostic[] {
  return index.sharedIdentities().flatMap(({ id, files }) =>
    files.map(({ path }): BoardDiagnostic => {
      const others = files.filter((file) => file.path !== path).map((file) => file.path);
      const message = `The identity ${id} is also claimed by ${others.join(', ')}; keep one of them.`;
      return { location: partsOf(path).location, path, code: 'duplicate-id', message, identity: id };
    }),
  );
}

function sourceOf({ path, task }: TaskFile): ConflictSource {
  const { location, name } = partsOf(path);
  return { location, path, filename: name, taskId: task.id, title: task.title, businessIds: statedIdsOf(task) };
}
