import type { TaskCheckpoint } from '../../contracts/tasks/checkpoint';
import type { Task } from '../../contracts/tasks/task';
import { newRecordId, operationTime } from '../../platform/operations/operation';
import type { Database, Stored } from '../port/collection';

interface StateDocument extends Stored {
  taskId: string;
  /** JSON, as text: field names of callers are no field names of the store. */
  state: string;
  timestamp: string;
}

/** How long a run may resume from a checkpoint. */
export const checkpointLifetimeMs = 24 * 3_600_000;

/** States outlive their checkpoints by this, so that the task decides when one has expired. */
const graceMs = 3_600_000;

export type FoundCheckpoint = { checkpoint: TaskCheckpoint } | { checkpoint: null; expired?: true };

/**
 * The states of tasks' checkpoints. Which of them is the current one is in the task (`task.checkpoint`), where it changes in
 * the same step as the status; a state no task names any more disappears by itself.
 */
export async function createTaskCheckpointStore(
  db: Database,
  { lifetimeMs = checkpointLifetimeMs, now = operationTime }: { lifetimeMs?: number; now?: () => Date } = {},
) {
  const states = await db.collection<StateDocument>({
    name: 'task-checkpoint-states',
    expire: { field: 'timestamp', afterSeconds: (lifetimeMs + graceMs) / 1000 },
  });

  const isExpired = (timestamp: string): boolean => now().getTime() - Date.parse(timestamp) > lifetimeMs;

  return {
    /** Stores a state that a task may refer to from now on. */
    async keep(taskId: string, state: TaskCheckpoint['state']): Promise<{ id: string; timestamp: string }> {
      const id = newRecordId('state', 12);
      const timestamp = now().toISOString();
      await states.insert({ _id: id, taskId, state: JSON.stringify(state), timestamp });
      return { id, timestamp };
    },

    /** Forgets a state that no task names any more. */
    async forget(id: string): Promise<void> {
      await states.deleteMany({ _id: id });
    },

    /** How often the checkpoint a task has now was resumed; 0 when it has none or an expired one. */
    resumes: ({ checkpoint, updatedAt }: Task): number =>
      checkpoint && !isExpired(checkpoint.timestamp ?? updatedAt) ? checkpoint.resumeCount : 0,

    /** The checkpoint that a task names; `null` also when its state is gone, e.g. with its stores. */
    async read({ id: taskId, checkpoint, updatedAt }: Task): Promise<FoundCheckpoint> {
      if (!checkpoint) {
        return { checkpoint: null };
      }
      const { id, step, resumeCount, timestamp = updatedAt } = checkpoint;
      if (isExpired(timestamp)) {
        return { checkpoint: null, expired: true };
      }
      const document = id === undefined ? undefined : await states.get(id);
      // A copied file names the state of another task.
      const state =
        document?.taskId === taskId ? (JSON.parse(document.state) as TaskCheckpoint['state']) : checkpoint.state;
      return { checkpoint: state ? { step, state, timestamp, resumeCount } : null };
    },
  };
}

export type TaskCheckpointStore = Awaited<ReturnType<typeof createTaskCheckpointStore>>;
