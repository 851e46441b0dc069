import { randomInt } from 'node:crypto';
import { taskId } from '../../contracts/common';

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** `task_<yyyymmdd>_<6 characters>`, dated in UTC. */
export function newTaskId(now: Date): string {
  const day = now.toISOString().slice(0, 10).replaceAll('-', '');
  const suffix = Array.from({ length: 6 }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `task_${day}_${suffix}`;
}

/** What fails this never reaches the file system. */
export const isTaskId = (id: string): boolean => taskId.safeParse(id).success;
