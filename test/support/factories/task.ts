import type { z } from 'zod';
import { type Task, task, type taskCreate } from '../../../contracts/tasks/task';

/** When everything that factories make has happened. */
export const factoryTime = '2026-01-01T00:00:00.000Z';

/** What a caller may send to create a task. */
export type NewTask = z.input<typeof taskCreate>;

/** A stored task. */
export const aTask = (fields: Partial<z.input<typeof task>> = {}): Task =>
  task.parse({
    id: 'task_20260101_aaaaaa',
    title: 'Do it',
    revision: 1,
    createdAt: factoryTime,
    updatedAt: factoryTime,
    ...fields,
  });

/** What a caller sends to create a task. */
export const aNewTask = (fields: Partial<NewTask> = {}): NewTask => ({ title: 'A task', ...fields });
