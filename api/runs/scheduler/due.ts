import { createHash } from 'node:crypto';
import type { DueRuns } from '../../../contracts/runs/schedules/scheduler';
import { errorMessage } from '../../../platform/errors/app-error';
import type { ScheduledDeliverableRecord } from '../../../stores/runs/schedules/scheduled-deliverable-store';
import type { SchedulerContext } from './items';

type DueContext = Pick<
  SchedulerContext,
  'deliverableRuns' | 'deliverableSchedules' | 'scheduledDeliverables' | 'schedulerMarks'
>;
type DueEvent = DueRuns['events'][number];

/** The run that makes good what was missed by this count, however often it is started. */
const runOf = (id: string, missed: number): string =>
  `recurring_run_${createHash('sha256').update(`${id}\nmissed ${missed}`).digest('hex').slice(0, 12)}`;

/**
 * Starts one run of each deliverable that missed times for longer than its catch-up, in the name of the caller. Repeated, it starts
 * nothing again.
 *
 * @param mayLaunch whether the caller may launch agents: deliverables with one are skipped otherwise
 */
export async function runDue(
  { deliverableRuns, deliverableSchedules, scheduledDeliverables, schedulerMarks }: DueContext,
  { actor, mayLaunch }: { actor: string; mayLaunch: boolean },
): Promise<DueRuns> {
  async function eventOf(definition: ScheduledDeliverableRecord): Promise<DueEvent | undefined> {
    const { id, agent, overlapPolicy } = definition;
    const { numActionsMissedCatchupWindow: count } = (await deliverableSchedules.describe(id)).info;
    const before = await schedulerMarks.madeGood(id);
    // A Schedule that was created again counts from nothing.
    const missed = count < before ? count : count - before;
    const event = { itemId: id, missed, runId: null };
    if (missed === 0) {
      return undefined;
    }
    if (agent !== undefined && !mayLaunch) {
      return { ...event, result: 'skipped', reason: 'The caller may not launch agents.' };
    }
    const runId = runOf(id, count);
    const [underWay] = overlapPolicy === 'allow-all' ? [] : await deliverableRuns.runningOf(id);
    if (underWay && underWay._id !== runId) {
      return { ...event, result: 'overlapping', reason: `${underWay._id} is under way.` };
    }
    await deliverableSchedules.start(id, { runId, begin: { trigger: 'catch-up', startedBy: actor } });
    await schedulerMarks.mark(id, count);
    return { ...event, result: 'executed', runId, reason: null };
  }

  const enabled = (await scheduledDeliverables.list()).filter((definition) => definition.enabled);
  const events: DueEvent[] = [];
  for (const definition of enabled) {
    const event = await eventOf(definition).catch((error: unknown): DueEvent => {
      const reason = errorMessage(error).slice(0, 500);
      return { itemId: definition.id, result: 'failed', missed: 0, runId: null, reason };
    });
    events.push(...(event ? [event] : []));
  }
  const countOf = (result: DueEvent['result']): number => events.filter((event) => event.result === result).length;
  return {
    checked: enabled.length,
    executed: countOf('executed'),
    skipped: countOf('skipped'),
    failed: countOf('failed'),
    overlapping: countOf('overlapping'),
    events,
  };
}
