import { join } from 'node:path';
import { errorMessage } from '../../platform/errors/app-error';
import type { FollowerDeps } from './following/follower';
import { moveFile } from './format/durable-file';
import { partsOf, type TaskPath, taskPath } from './format/layout';
import { removeProgress } from './progress-files';

/** Moves tasks to the archive whose deletion a crash interrupted after it was written. */
export async function finishRemovals({ dir, index, locks, log }: FollowerDeps): Promise<void> {
  const misplaced = (path: TaskPath): boolean => {
    const file = index.fileAt(path);
    return file?.kind === 'task' && file.task.deletedAt !== undefined && partsOf(path).location !== 'archive';
  };
  for (const path of index.paths().filter(misplaced)) {
    const file = index.fileAt(path);
    if (file?.kind !== 'task') {
      continue;
    }
    const to = taskPath('archive', partsOf(path).name);
    await locks
      .exclusive(file.task.id, async () => {
        if (!misplaced(path)) {
          return;
        }
        await moveFile(join(dir, path), join(dir, to));
        index.put({ ...file, path: to, fresh: true }, path);
        await removeProgress(dir, file.task.id);
      })
      .catch((error: unknown) => log.warn({ path, error: errorMessage(error) }, 'deleted task archival failed'));
  }
}
