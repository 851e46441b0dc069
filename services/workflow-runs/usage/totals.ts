import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Stored } from '../../../stores/port/collection';
import { StoreUnavailableError } from '../../../stores/port/errors';
import { insertOrGet } from '../../../stores/port/insert';
import type { RunRecord } from '../runs/run';
import { createStageArchive } from '../runs/stage-archive';
import { type AggregateUsage, noUsage, usageOf, withRun } from './usage';

/** The sums over all runs, in one document, so that they and the note of what is in them change together. */
interface Totals extends Stored, AggregateUsage {
  /** Runs that are in the sums and perhaps not marked so yet. */
  marking: string[];
  revision: number;
}

const totalsId = 'all';
const maxInStep = 100;
/** Others that count at the same time get in the way this often at most. */
const maxConflicts = 100;
/** The longest pause after a conflict, in milliseconds: processes that repeat at once keep each other from ending. */
const longestPauseMs = 50;

/**
 * A running total over all runs that have ended. Every run is in it exactly once, whatever dies in between: a run's
 * numbers and its id enter the document in one write, then the run is marked as counted, and only then its id leaves.
 */
export async function createUsageTotals(db: Database) {
  const { whole } = await createStageArchive(db);
  const totals = await db.collection<Totals>({ name: 'usage-totals' });
  const runs = await db.collection<RunRecord>({
    name: 'workflow-runs',
    indexes: [{ keys: { usage_counted: 1, _id: 1 } }],
  });

  /** Replaces the sums, unless they were changed since they were read. */
  async function replace({ _id, revision }: Totals, change: Partial<AggregateUsage> & Pick<Totals, 'marking'>) {
    const update = { $set: change, $inc: { revision: 1 } };
    return totals.findOneAndUpdate({ _id, revision }, update);
  }

  const current = (): Promise<Totals> => insertOrGet(totals, { _id: totalsId, ...noUsage, marking: [], revision: 1 });

  /**
   * Takes runs in that have ended since.
   *
   * @returns the sums when nothing is left to do; `conflict` when another process did the same meanwhile
   */
  async function step(): Promise<AggregateUsage | 'again' | 'conflict'> {
    // In this order: a run that is seen as not counted here was not when the sums were read, or their revision moves on.
    const before = await current();
    const ended = await runs.find({ usage_counted: false }, { sort: { _id: 1 }, limit: maxInStep });
    if (ended.length === 0 && before.marking.length === 0) {
      return before;
    }
    const fresh = ended.filter(({ _id }) => !before.marking.includes(_id));
    let sums: AggregateUsage = { totals: before.totals, by_model: before.by_model };
    for (const run of fresh) {
      sums = withRun(sums, usageOf(await whole(run)));
    }
    const marking = [...before.marking, ...fresh.map(({ _id }) => _id)];
    const counted = await replace(before, { ...sums, marking });
    if (!counted) {
      return 'conflict';
    }
    await runs.updateMany({ _id: { $in: marking } }, { $set: { usage_counted: true } });
    return (await replace(counted, { marking: [] })) ? 'again' : 'conflict';
  }

  return {
    /** What all runs that have ended until now have used. Reads those that have ended since it was last asked. */
    async read(): Promise<AggregateUsage> {
      for (let conflicts = 0; conflicts < maxConflicts;) {
        const outcome = await step();
        if (outcome === 'conflict') {
          conflicts += 1;
          await delay(Math.random() * Math.min(2 ** conflicts, longestPauseMs));
        } else if (outcome !== 'again') {
          return { totals: outcome.totals, by_model: outcome.by_model };
        }
      }
      throw new StoreUnavailableError('Too many concurrent changes of the usage totals. Try again.');
    },
  };
}
