import type { Filter } from 'mongodb';
import type { Goal, GoalQuery } from '../../contracts/governance/goals/goal';
import { conflict } from '../../platform/errors/app-error';
import { isSameJson } from '../../platform/json/same';
import { Page, type Position } from '../../platform/lists/page';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';
import { inPages } from '../port/in-pages';

/** `due` counts what happened to a goal since its workflow last looked at it; `isDue` is whether anything did. */
type GoalRecord = Stored & Omit<Goal, 'id'> & { due: number; isDue: boolean };

/** Which goal a run belongs to: written before the goal has the run, so that its end is noticed. */
interface GoalLink extends Stored {
  goalId: string;
}

/** Writers of one goal do not stay in each other's way for longer than this. */
const maxTries = 50;
/** Goals can be long: a page ends before it has more than this. */
const pageBytes = 8_000_000;
const readAtOnce = 50;

const present = ({ _id, due: _due, isDue: _isDue, ...fields }: GoalRecord): Goal => ({ id: _id, ...fields });

/**
 * Objectives that outlive their runs (`durable-goal/v1`): one document each, changed by compare-and-set.
 *
 * @param onChange receives each changed goal once it is stored
 */
export async function createGoalStore(
  db: Database,
  onChange: (goal: Goal) => Promise<unknown> = async () => undefined,
) {
  const newest = { createdAt: -1, _id: -1 } as const;
  const goals = await db.collection<GoalRecord>({
    name: 'goals',
    indexes: [{ keys: newest }, { keys: { 'root.taskId': 1, ...newest } }, { keys: { isDue: 1, _id: 1 } }],
  });
  const links = await db.collection<GoalLink>({ name: 'goal-runs' });

  return {
    async add({ id, ...fields }: Goal): Promise<void> {
      await goals.insert({ _id: id, ...fields, due: 0, isDue: false });
      await onChange({ id, ...fields });
    },

    async get(id: string): Promise<Goal | undefined> {
      const record = await goals.get(id);
      return record && present(record);
    },

    /** The newest first. */
    async list({ state, rootTaskId, limit, cursor }: GoalQuery): Promise<Page<Goal>> {
      const filter = {
        ...(rootTaskId === undefined ? {} : { 'root.taskId': rootTaskId }),
        ...(state === undefined ? {} : { state: { $in: state } }),
        createdAt: { $gte: '' },
      } as Filter<GoalRecord>;
      const items: Goal[] = [];
      let next: Position | undefined = cursor;
      let bytes = 0;
      do {
        const part = { limit: Math.min(readAtOnce, limit - items.length), cursor: next };
        const page = await findPage(goals, { filter, order: { key: 'createdAt', direction: -1 } }, part);
        for (const goal of page.items.map(present)) {
          bytes += JSON.stringify(goal).length;
          if (items.length > 0 && bytes > pageBytes) {
            return new Page(items, next);
          }
          items.push(goal);
          next = { key: goal.createdAt, id: goal.id };
        }
        next = page.next;
      } while (next && items.length < limit);
      return new Page(items, next);
    },

    /**
     * Replaces a goal by what `change` makes of the newest one; it may run more than once and throws to refuse.
     *
     * @param due whether its workflow has to look at it then
     * @returns the goal, or `undefined` when there is none
     */
    async change(
      id: string,
      change: (current: Goal) => Goal,
      { at, due = false }: { at: string; due?: boolean },
    ): Promise<Goal | undefined> {
      for (let attempt = 0; attempt < maxTries; attempt += 1) {
        const record = await goals.get(id);
        const current = record && present(record);
        if (!current) {
          return undefined;
        }
        const next = change(current);
        if (isSameJson(next, current)) {
          return current;
        }
        const { id: _id, revision: _revision, ...fields } = next;
        const changed = await goals.findOneAndUpdate(
          { _id: id, revision: current.revision },
          {
            $set: { ...fields, updatedAt: at, ...(due ? { isDue: true } : {}) },
            $inc: { revision: 1, due: due ? 1 : 0 },
          },
        );
        if (changed) {
          await onChange(present(changed));
          return present(changed);
        }
      }
      throw conflict('Too many concurrent changes of this goal. Try again.', { goalId: id });
    },

    /** Records that a run of the goal has changed; its workflow looks at it. */
    async markDue(id: string): Promise<void> {
      await goals.findOneAndUpdate({ _id: id }, { $set: { isDue: true }, $inc: { due: 1 } });
    },

    /** What happened to the goal so far: a number that only grows. */
    dueOf: async (id: string): Promise<number> => (await goals.get(id))?.due ?? 0,

    /** Records that everything up to `due` was looked at; what came since is still due. */
    async settled(id: string, due: number): Promise<boolean> {
      return (await goals.findOneAndUpdate({ _id: id, due }, { $set: { isDue: false } })) !== undefined;
    },

    /** The ids of all goals that have to be looked at. */
    async *due(pageSize?: number): AsyncGenerator<string> {
      for await (const { _id } of inPages(goals, { isDue: true }, pageSize)) {
        yield _id;
      }
    },

    /** Reserves a run for a goal, once. @returns the goal that it is reserved for */
    async link(attemptId: string, goalId: string): Promise<string> {
      const stored = await links.findOneAndUpdate({ _id: attemptId }, { $setOnInsert: { goalId } }, { upsert: true });
      return stored?.goalId ?? goalId;
    },

    /** The goal that a run was linked to. */
    goalOf: async (attemptId: string): Promise<string | undefined> => (await links.get(attemptId))?.goalId,
  };
}

export type GoalStore = Awaited<ReturnType<typeof createGoalStore>>;
