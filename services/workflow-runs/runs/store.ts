import type { Collection, Database } from '../../../stores/port/collection';
import { insertOnce } from '../../../stores/port/insert';
import { endedStatuses, hasEnded, type RunRecord, type RunStatus } from './run';
import { createStageArchive } from './stage-archive';
import { baseOf, beforeTask, changeOf, repeatsTask, type UpdateOfTask } from './task-base';

/** What of a run changes besides its revision. */
export type RunChange = Partial<Omit<RunRecord, '_id' | 'revision' | 'base'>>;

interface RunFilter {
  slug?: string | undefined;
  parent?: string | undefined;
  statuses?: readonly RunStatus[] | undefined;
}

/** Runs as callers read them. A run's workflow writes them; it alone knows what comes next. */
export async function createRunStore(db: Database) {
  const runs: Collection<RunRecord> = await db.collection<RunRecord>({
    name: 'workflow-runs',
    indexes: [
      { keys: { status: 1, _id: 1 } },
      { keys: { 'workflow.slug': 1, _id: -1 } },
      { keys: { 'parent.run_id': 1, _id: 1 } },
      { keys: { 'parent.root': 1 } },
    ],
  });
  const archive = await createStageArchive(db);
  const newest = { _id: -1 } as const;

  return {
    insert: (run: RunRecord): Promise<void> => runs.insert(run),
    /** Unless it is there already. */
    insertOnce: (run: RunRecord): Promise<boolean> => insertOnce(runs, run),
    get: (id: string): Promise<RunRecord | undefined> => runs.get(id),

    /** With all of its stages, of which a record has the newest. */
    whole: archive.whole,
    async getWhole(id: string): Promise<RunRecord | undefined> {
      const run = await runs.get(id);
      return run && archive.whole(run);
    },

    /** The newest first. */
    list: ({ skip, limit }: { skip: number; limit: number }): Promise<RunRecord[]> =>
      runs.find({ _id: { $gt: '' } }, { sort: newest, skip, limit }),

    /** Of one workflow, of one parent, or with some statuses; the newest first. */
    async find(
      { slug, parent, statuses }: RunFilter,
      { skip = 0, limit }: { skip?: number; limit: number },
    ): Promise<RunRecord[]> {
      const filter = {
        ...(slug === undefined && parent === undefined && { _id: { $gt: '' } }),
        ...(slug !== undefined && { 'workflow.slug': slug }),
        ...(parent !== undefined && { 'parent.run_id': parent }),
        ...(statuses && { status: { $in: [...statuses] } }),
      };
      return runs.find(filter, { sort: newest, skip, limit });
    },

    count: (statuses: readonly RunStatus[]): Promise<number> => runs.count({ status: { $in: [...statuses] } }),

    /** The child runs of a run, the oldest first. */
    childrenOf: (
      id: string,
      { skip = 0, limit = 1_000 }: { skip?: number; limit?: number } = {},
    ): Promise<RunRecord[]> => runs.find({ 'parent.run_id': id }, { sort: { _id: 1 }, skip, limit }),

    /** The runs below one at the top of a tree. */
    tree: (root: string): Promise<RunRecord[]> => runs.find({ 'parent.root': root }),
    countTree: (root: string): Promise<number> => runs.count({ 'parent.root': root }),

    /** How many start, or run and do not wait. */
    countWorking: (): Promise<number> =>
      runs.count({ status: { $in: ['starting', 'running'] }, waiting: { $ne: true } }),

    /** The oldest runs that wait and are not held back, the oldest first. */
    oldestQueued: (limit: number): Promise<RunRecord[]> =>
      runs.find({ status: 'queued', held: { $ne: true } }, { sort: { _id: 1 }, limit }),

    /** How many wait in front of a run, itself counted. */
    queuePosition: (id: string): Promise<number> => runs.count({ status: 'queued', _id: { $lte: id } }),

    /** Removes a run that has ended, with its stages; whether it was there. Repeatable. */
    async removeEnded(id: string): Promise<boolean> {
      const run = await runs.get(id);
      if (!run || !hasEnded(run.status)) {
        return false;
      }
      await archive.remove(id);
      return (await runs.deleteMany({ _id: id, status: { $in: [...endedStatuses] } })) > 0;
    },

    /** Changes a run if it has one of these statuses, beside the reports of its workflow, which do not undo it; else `undefined`. */
    change: (id: string, from: readonly RunStatus[], change: RunChange): Promise<RunRecord | undefined> =>
      runs.findOneAndUpdate({ _id: id, status: { $in: [...from] } }, { $set: change, $unset: { base: '' } }),

    /** Has a run that is queued begin with guidance, also when this is repeated; `undefined` when it is not queued any more. */
    async addGuidance(
      id: string,
      guidance: RunRecord['guidance'][number] & { id: string },
    ): Promise<RunRecord | undefined> {
      const queued = { _id: id, status: 'queued' as const };
      await runs.findOneAndUpdate({ ...queued, 'guidance.id': { $ne: guidance.id } }, { $push: { guidance } });
      const run = await runs.get(id);
      return run?.status === 'queued' || run?.guidance.some((each) => each.id === guidance.id) ? run : undefined;
    },

    /**
     * Brings a run to a version its workflow has reported, unless it is there already. Versions come one after the other;
     * none comes behind the end of a run. A workflow task that is repeated, since its worker was killed before it was complete,
     * replaces what it has reported before.
     *
     * @param next the change, of the run as it was before the update, and whether the update is of a task that is repeated; not called
     *   for an update that is there already
     * @returns whether it is there
     * @throws Error when there is no such run
     */
    async project(
      id: string,
      update: UpdateOfTask,
      next: (run: RunRecord, isRepeated: boolean) => RunChange | Promise<RunChange>,
    ): Promise<boolean> {
      const run = await runs.get(id);
      if (!run) {
        throw new Error(`No run has the id ${id}.`);
      }
      // Of a worker that was paused, and another one has repeated its task.
      if (run.base && update.task < run.base.task) {
        return false;
      }
      const isRepeated = repeatsTask(run, update);
      if (!isRepeated && (run.revision >= update.version || hasEnded(run.status))) {
        return run.revision >= update.version;
      }
      const from = isRepeated ? beforeTask(run) : run;
      const change = await next(from, isRepeated);
      const trimmed = change.stages ? await archive.trim(from, change.stages) : {};
      const fields = { ...change, ...trimmed };
      const { set, unset } = changeOf(run, fields, isRepeated);
      const changed = { ...set, revision: update.version, base: baseOf(from, fields, update) };
      const removed = unset.length > 0 ? { $unset: Object.fromEntries(unset.map((name) => [name, ''])) } : {};
      await runs.findOneAndUpdate({ _id: id, revision: run.revision }, { $set: changed, ...removed } as never);
      return true;
    },
  };
}

export type RunStore = Awaited<ReturnType<typeof createRunStore>>;
