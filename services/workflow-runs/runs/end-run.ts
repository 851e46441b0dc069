import { compact } from '../../../platform/json/compact';
import type { EntryLog } from '../../../stores/port/collection';
import { endOfRun } from '../retros/retro';
import type { ParentNotifier } from './children/notify-parent';
import type { ContinuationStore } from './execution/continuations';
import type { RunEventEntry } from './execution/events';
import { activeStatuses, type RunRecord } from './run';
import type { RunStore } from './store';

export interface RunEndingDependencies {
  runs: RunStore;
  events: Pick<EntryLog<RunEventEntry>, 'append'>;
  continuations: Pick<ContinuationStore, 'delete'>;
  notifyParent: ParentNotifier;
  now: () => Date;
}

/** How a run ends whose workflow cannot end it. */
export type ForcedEnd = { status: 'failed'; message: string } | { status: 'cancelled' };

/**
 * Ends a run without its workflow: one that cannot be started, or whose workflow is closed. Repeatable; a run that has ended
 * stays as it is.
 */
export function createRunEnding({ runs, events, continuations, notifyParent, now }: RunEndingDependencies) {
  return async (run: RunRecord, end: ForcedEnd): Promise<void> => {
    const ended_at = now().toISOString();
    const duration_ms = Date.parse(ended_at) - Date.parse(run.started_at ?? run.created_at);
    const event =
      end.status === 'failed' ? { RunFailed: { duration_ms, error: end.message } } : { RunCancelled: { duration_ms } };
    const stages = run.stages.map((stage) =>
      stage.status === 'running' ? { ...stage, status: 'cancelled' as const, ended_at } : stage,
    );
    // Before the record, which is what this is found by when it is repeated.
    await events.append(run._id, [{ at: ended_at, event, dedupeKey: `${end.status} without workflow` }]);
    await runs.change(run._id, ['queued', ...activeStatuses], {
      status: end.status,
      stages,
      questions: [],
      ...(run.webhooks && { webhooks: [] }),
      ended_at,
      ...compact({ error: end.status === 'failed' ? { message: end.message } : undefined }),
      ...endOfRun({ ...(await runs.whole({ ...run, stages })), status: end.status, ended_at }),
    });
    await continuations.delete(run._id);
    await notifyParent(run._id);
  };
}

export type EndRun = ReturnType<typeof createRunEnding>;
