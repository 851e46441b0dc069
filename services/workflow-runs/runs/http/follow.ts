import { comingWithin } from '../../http/coming-within';
import type { ServerSentEvent } from '../../http/event-stream';
import type { RunsContext } from '../context';
import { endOf, type RunEventEntry } from '../execution/events';

type FollowContext = Pick<RunsContext, 'events' | 'runs'>;

/** Between two looks at a record whose last event is there: it is written right behind. */
const lookMs = { first: 10, most: 1_000 };

/** The events of a run after a sequence, as they come, up to its end. A reader of the last one finds that the run has ended. */
export async function* followRun(
  context: FollowContext,
  runId: string,
  { after, signal }: { after: number; signal: AbortSignal },
): AsyncGenerator<ServerSentEvent> {
  const left = new AbortController();
  const either = AbortSignal.any([signal, left.signal]);
  try {
    yield* eventsToEnd(context, runId, { after, signal: either });
  } finally {
    left.abort();
  }
}

/** The last event is the one that the record has ended with. A worker that was killed before it wrote that may have left another. */
async function* eventsToEnd(
  { events, runs }: FollowContext,
  runId: string,
  { after, signal }: { after: number; signal: AbortSignal },
): AsyncGenerator<ServerSentEvent> {
  const batches: AsyncIterator<RunEventEntry[], unknown> = events
    .watch(runId, { after, signal })
    [Symbol.asyncIterator]();
  const ends: RunEventEntry[] = [];
  let position = after;
  let next = batches.next();
  let pauseMs = lookMs.first;
  for (;;) {
    if (ends.length > 0) {
      const run = await runs.get(runId);
      const end = run ? ends.findLast(({ event }) => endOf(event) === run.status) : ends.at(-1);
      if (end && position === (await events.last(runId))) {
        yield toServerSent(end);
        return;
      }
    }
    const batch = await (ends.length > 0 ? comingWithin(pauseMs, next) : next);
    if (!batch) {
      pauseMs = Math.min(pauseMs * 2, lookMs.most);
      continue;
    }
    if (batch.done === true) {
      return;
    }
    next = batches.next();
    next.catch(() => undefined);
    for (const entry of batch.value) {
      position = entry.sequence;
      if (endOf(entry.event) === undefined) {
        yield toServerSent(entry);
      } else {
        ends.push(entry);
      }
    }
  }
}

const toServerSent = ({ sequence, event }: RunEventEntry): ServerSentEvent => ({ id: sequence, data: event });
