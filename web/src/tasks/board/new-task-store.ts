import type { TaskStatus } from '../../api/client';
import { createStore } from '../../ui/store';

/** The dialog for a new task: open with the column that the task goes to. */
export const newTask = createStore<{ status: TaskStatus } | undefined>(undefined);
