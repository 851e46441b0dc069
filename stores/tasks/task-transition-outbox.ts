import type { HookContext } from '../../contracts/settings/hook';
import { hookEvents, type ObservedState } from '../../domain/hook-events';
import type { Database, Stored } from '../port/collection';
import { insertOnce } from '../port/insert';

/** A task's transition that was not delivered yet. */
export interface PendingTransition {
  /** `<taskId>/<revision>/<event>`: the same in every process that observes it. */
  id: string;
  context: HookContext;
}

interface TransitionRecord extends Stored, ObservedState {
  revision: number;
  /** Whether `outbox` holds anything, for the sweep after a crash. */
  waiting: boolean;
  outbox: PendingTransition[];
}

/** A task as it was noticed. */
export interface ObservedTask extends ObservedState {
  taskId: string;
  revision: number;
  /** What hooks receive besides the event and its origin. */
  facts: Omit<HookContext, 'event' | 'taskId' | 'previousStatus' | 'newStatus' | 'location'>;
}

const maxTries = 50;
const seededId = ' seeded';

/**
 * The last observed state of every task. However many processes observe a change, one of them records it, together with its
 * deliveries: those that a crash prevents stay for the next process.
 */
export async function createTaskTransitionOutbox(db: Database) {
  const records = await db.collection<TransitionRecord>({
    name: 'task-standings',
    indexes: [{ keys: { waiting: 1, _id: 1 } }],
  });

  return {
    /** Whether this board has been observed before; tasks from before that are no transitions. */
    isSeeded: async (): Promise<boolean> => (await records.get(seededId)) !== undefined,
    async markSeeded(): Promise<void> {
      const nothing = { status: 'todo', location: 'active' } as const;
      await insertOnce(records, { _id: seededId, ...nothing, revision: 0, waiting: false, outbox: [] });
    },

    /**
     * Records a task's current state; an observation older than the recorded one changes nothing.
     *
     * @param silent whether it is recorded without deliveries
     * @param isDue whether anything is to receive a transition: no other is recorded
     * @returns the deliveries that are pending now
     */
    async record(
      task: ObservedTask,
      { silent = false, isDue = () => true }: { silent?: boolean; isDue?: (context: HookContext) => boolean } = {},
    ): Promise<PendingTransition[]> {
      for (let attempt = 0; attempt < maxTries; attempt += 1) {
        const previous = await records.get(task.taskId);
        if (previous && (previous.revision > task.revision || isSame(previous, task))) {
          return previous.outbox;
        }
        const due = silent ? [] : transitions(previous, task).filter(({ context }) => isDue(context));
        const { status, location, revision } = task;
        const outbox = [...(previous?.outbox ?? []), ...due];
        const next = { status, location, revision, outbox, waiting: outbox.length > 0 };
        const written = previous
          ? await records.findOneAndUpdate(
              { _id: task.taskId, revision: previous.revision, outbox: previous.outbox },
              { $set: next },
            )
          : await insertOnce(records, { _id: task.taskId, ...next });
        if (written) {
          return outbox;
        }
      }
      throw new Error(`The state of ${task.taskId} keeps changing.`);
    },

    /** Removes delivered transitions. */
    async markDelivered(taskId: string, delivered: readonly PendingTransition[]): Promise<void> {
      const all = { _id: taskId, outbox: [...delivered] };
      if (await records.findOneAndUpdate(all, { $set: { outbox: [], waiting: false } })) {
        return;
      }
      const ids = delivered.map(({ id }) => id);
      await records.findOneAndUpdate({ _id: taskId }, { $pull: { outbox: { id: { $in: ids } } } });
      await records.findOneAndUpdate({ _id: taskId, outbox: [] }, { $set: { waiting: false } });
    },

    /** Tasks with pending transitions, by id. */
    listPending: (after: string, limit: number): Promise<TransitionRecord[]> =>
      records.find({ waiting: true, _id: { $gt: after } }, { sort: { _id: 1 }, limit }),
  };
}

const isSame = (a: ObservedState, b: ObservedState): boolean => a.status === b.status && a.location === b.location;

function transitions(before: ObservedState | undefined, task: ObservedTask): PendingTransition[] {
  return hookEvents(before, task).map((event) => ({
    id: `${task.taskId}/${task.revision}/${event}`,
    context: {
      ...task.facts,
      event,
      taskId: task.taskId,
      location: task.location,
      ...(before && { previousStatus: before.status }),
      newStatus: task.status,
    },
  }));
}
