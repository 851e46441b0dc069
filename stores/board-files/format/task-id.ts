import { taskId } from '../../../contracts/common';
import { currentOperation, operationBytes } from '../../../platform/operations/operation';

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** `task_<yyyymmdd>_<6 characters>`, dated in UTC. */
export function newTaskId(now: Date): string {
  const day = now.toISOString().slice(0, 10).replaceAll('-', '');
  const drawn = operationBytes('task', 24);
  const suffix = Array.from({ length: 6 }, (_none, at) => alphabet[drawn.readUInt32BE(at * 4) % alphabet.length]);
  const id = `task_${day}_${suffix.join('')}`;
  return currentOperation()?.own(id) ?? id;
}

/** What fails this never reaches the file system. */
export const isTaskId = (id: string): boolean => taskId.safeParse(id).success;
