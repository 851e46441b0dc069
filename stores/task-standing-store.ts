import type { HookContext } from '../contracts/hook';
import { hookEvents, type TaskStanding } from '../runs/hook-events';
import type { Database, Stored } from './collection';
import { insertOnce } from './insert';

/** Something that happened to a task and of which nobody has been told yet. */
export interface PendingTransition {
  /** `<taskId>/<revision>/<event>`: the same for whoever notices it. */
  id: string;
  context: HookContext;
}

interface StandingRecord extends Stored, TaskStanding {
  revision: number;
  /** Whether `outbox` holds anything, for those who look for what a crash left. */
  waiting: boolean;
  outbox: PendingTransition[];
}

/** A task as it was noticed. */
export interface Noticed extends TaskStanding {
  taskId: string;
  revision: number;
  /** What hooks are told about it besides the event and where it came from. */
  facts: Omit<HookContext, 'event' | 'taskId' | 'previousStatus' | 'newStatus' | 'location'>;
}

const maxTries = 50;
const seededId = ' seeded';

/**
 * Where every task stood when it was last looked at. However many processes notice a change, one of them notes it, together
 * with what has to be told of it: what a crash keeps from being told is still there for the next one.
 */
export async function createTaskStandingStore(db: Database) {
  const standings = await db.collection<StandingRecord>({
    name: 'task-standings',
    indexes: [{ keys: { waiting: 1, _id: 1 } }],
  });

  return {
    /** Whether this board has been looked at before; tasks from before that are no news. */
    isSeeded: async (): Promise<boolean> => (await standings.get(seededId)) !== undefined,
    async markSeeded(): Promise<void> {
      const nothing = { status: 'todo', location: 'active' } as const;
      await insertOnce(standings, { _id: seededId, ...nothing, revision: 0, waiting: false, outbox: [] });
    },

    /**
     * Notes where a task stands now; older news than what is known changes nothing.
     *
     * @param silent whether it is noted without anything to be told
     * @returns what has to be told of it now
     */
    async note(task: Noticed, { silent = false } = {}): Promise<PendingTransition[]> {
      for (let attempt = 0; attempt < maxTries; attempt += 1) {
        const known = await standings.get(task.taskId);
        if (known && (known.revision > task.revision || isSame(known, task))) return known.outbox;
        const told = silent ? [] : transitions(known, task);
        const { status, location, revision } = task;
        const outbox = [...(known?.outbox ?? []), ...told];
        const next = { status, location, revision, outbox, waiting: outbox.length > 0 };
        const written = known
          ? await standings.findOneAndUpdate(
              { _id: task.taskId, revision: known.revision, outbox: known.outbox },
              { $set: next },
            )
          : await insertOnce(standings, { _id: task.taskId, ...next });
        if (written) return outbox;
      }
      throw new Error(`The standing of ${task.taskId} keeps changing.`);
    },

    /** Somebody has been told. */
    async told(taskId: string, ids: readonly string[]): Promise<void> {
      await standings.findOneAndUpdate({ _id: taskId }, { $pull: { outbox: { id: { $in: [...ids] } } } });
      await standings.findOneAndUpdate({ _id: taskId, outbox: [] }, { $set: { waiting: false } });
    },

    /** Tasks of which something is still to be told, by id. */
    waiting: (after: string, limit: number): Promise<StandingRecord[]> =>
      standings.find({ waiting: true, _id: { $gt: after } }, { sort: { _id: 1 }, limit }),
  };
}

export type TaskStandingStore = Awaited<ReturnType<typeof createTaskStandingStore>>;

const isSame = (a: TaskStanding, b: TaskStanding): boolean => a.status === b.status && a.location === b.location;

function transitions(before: TaskStanding | undefined, task: Noticed): PendingTransition[] {
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
