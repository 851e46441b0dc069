import type { RunEvent } from '../../../contracts/runs/event';
import { spentBy } from '../../../domain/usage';
import type { UseReport } from '../../../stores/governance/budgets/count-spend';
import type { RunEventStore } from '../../../stores/runs/event-store';

/** How many events are read at a time. */
const pageSize = 500;

/** The events of a run in which its agent reported what it used, page by page. */
export async function* usageEvents(events: Pick<RunEventStore, 'read'>, attemptId: string): AsyncGenerator<RunEvent> {
  for (let after = 0; ;) {
    const page = await events.read(attemptId, after, pageSize);
    yield* page.filter(({ kind }) => kind === 'usage.updated');
    const last = page.at(-1);
    if (!last || page.length < pageSize) {
      return;
    }
    after = last.sequence;
  }
}

/** What a run has used, as its agent reported it in events; what it reported over HTTP was counted when it came. */
export async function usageReports(events: Pick<RunEventStore, 'read'>, attemptId: string): Promise<UseReport[]> {
  const reports: UseReport[] = [];
  for await (const event of usageEvents(events, attemptId)) {
    reports.push(...spentBy({ ...event, attemptId }));
  }
  return reports;
}
