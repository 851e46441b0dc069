import type { BoardDiagnostic, Task } from '../../../contracts/tasks/task';
import { conflict } from '../../../platform/errors/app-error';
import type { TaskFile } from '../board-file';
import type { TaskIndex } from '../index/task-index';
import { businessIdsOf } from './business-id';
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

/**
 * Refuses to change a task that is one of several with its identity (specification 1, "Errors", 2).
 *
 * @param task as it would be after the change, so that a change may end the conflict
 * @throws AppError 409
 */
export function assertUniqueIdentity(
  index: TaskIndex,
  task: Task,
  { operation, destinationPath }: { operation: string; destinationPath: TaskPath },
): void {
  const conflicts: IdentityConflict[] = [];
  const sameId = index.filesOf(task.id);
  if (sameId.length > 1) {
    conflicts.push({ kind: 'task-id', id: task.id, sources: sameId.map(sourceOf) });
  }
  for (const id of task.deletedAt === undefined ? businessIdsOf(task) : []) {
    const others = index.claimantsOf(id).filter((file) => file.task.id !== task.id);
    if (others.length > 0) {
      conflicts.push({ kind: 'business-id', id, sources: others.map(sourceOf) });
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
  return { location, path, filename: name, taskId: task.id, title: task.title, businessIds: businessIdsOf(task) };
}
