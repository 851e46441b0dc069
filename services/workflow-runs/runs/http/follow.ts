import type { EntryLog } from '../../../../stores/port/collection';
import type { ServerSentEvent } from '../../http/event-stream';
import { endsRun, type RunEventEntry } from '../execution/events';

/** The events of a run after a sequence, as they come, up to its end. */
export async function* followRun(
  events: EntryLog<RunEventEntry>,
  runId: string,
  { after, signal }: { after: number; signal: AbortSignal },
): AsyncGenerator<ServerSentEvent> {
  for await (const batch of events.watch(runId, { after, signal })) {
    for (const { sequence, event } of batch) {
      yield { id: sequence, data: event };
      if (endsRun(event)) {
        return;
      }
    }
  }
}
