import type { RunEventInput } from '../../../contracts/runs/event';
import { spentBy } from '../../../domain/usage';
import { countSpend, type SpendStores, type UseReport } from '../../../stores/governance/budgets/count-spend';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { RunEventStore } from '../../../stores/runs/event-store';
import { sourceOf } from '../../shared/event-source';
import { usageReports } from '../completion/usage-reports';
import type { AgentStops } from './agent-stops';

export interface SpendMeterDependencies {
  spend: SpendStores;
  events: Pick<RunEventStore, 'read'>;
  /** How the agent of an attempt is ended. */
  stops: Pick<AgentStops, 'end'>;
  now(): Date;
}

/** What a run uses is counted where its events pass; one that has used up a budget is ended before its next turn. */
export function meterSpend(deps: SpendMeterDependencies, record: AttemptRecord) {
  const source = sourceOf(record);

  /** @throws when the use cannot be recorded: a run whose use is not counted does not go on */
  async function count(reports: readonly UseReport[]): Promise<void> {
    const exhausted = await countSpend(deps.spend, { record, source }, reports);
    if (exhausted) {
      deps.stops.end(record._id);
    }
  }

  return {
    /** Receives events of the agent with the sequences they were given. */
    async appended(events: readonly RunEventInput[], sequences: readonly number[]): Promise<void> {
      const at = deps.now().toISOString();
      const reports = events.flatMap((event, index) => {
        const sequence = sequences[index];
        return sequence === undefined ? [] : spentBy({ attemptId: record._id, sequence, receivedAt: at, ...event });
      });
      if (reports.length > 0) {
        await count(reports);
      }
    },

    /** Counts what the log of a run has that an earlier worker may not have counted. */
    async caughtUp(): Promise<void> {
      await count(await usageReports(deps.events, record._id));
    },
  };
}
