import type { Task } from '../api/client';
import { createStore } from '../ui/store';

/** The dialog that starts a run: open with its task. */
export const startRun = createStore<Task | undefined>(undefined);
