import { assertFound } from '../../../platform/errors/app-error';
import type { FoundCheckpoint } from '../../../stores/tasks/checkpoint-store';
import type { ApiContext } from '../../context';

/** Writers that save checkpoints of one task do not stay in a reader's way for longer than this. */
const maxTries = 5;

/**
 * The checkpoint of a task. A state that is gone may have been replaced between our two reads, so the task is read again.
 *
 * @throws AppError 404
 */
export async function readCheckpoint(
  { board, taskCheckpoints }: Pick<ApiContext, 'board' | 'taskCheckpoints'>,
  taskId: string,
): Promise<FoundCheckpoint> {
  let seen: string | undefined;
  for (let attempt = 0; ; attempt += 1) {
    const task = await board.get(taskId);
    assertFound(task, 'task', taskId);
    const read = await taskCheckpoints.read(task.task);
    const checkpointId = task.task.checkpoint?.id;
    if (read.checkpoint || read.expired || checkpointId === seen || attempt === maxTries) {
      return read;
    }
    seen = checkpointId;
  }
}
