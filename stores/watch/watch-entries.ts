import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../platform/log/log';
import type { LogEntry } from '../port/collection';
import { StoreUnavailableError } from '../port/errors';
import type { WakeUp } from './wake-up';

const batchSize = 500;
const retryMs = { first: 50, most: 2_000 };

export interface WatchSource<T> {
  /** Up to `limit` entries with `sequence > after`, in order. */
  read: (after: number, limit: number) => Promise<T[]>;
  wakeUp: WakeUp;
  /** What the wake-up is notified with when there are new entries. */
  topic: string;
  log: Log;
}

/** Reads on from `after` for as long as `signal` allows: the same loop for every adapter, whatever wakes it up. */
export async function* watchEntries<T extends LogEntry>(
  { read, wakeUp, topic, log }: WatchSource<T>,
  { after, signal }: { after: number; signal: AbortSignal },
): AsyncGenerator<T[]> {
  let position = after;
  let pauseMs = retryMs.first;
  const ended = () => signal.aborted || wakeUp.closed;
  while (!ended()) {
    const ticket = wakeUp.ticket();
    let entries: T[];
    try {
      entries = await read(position, batchSize);
      pauseMs = retryMs.first;
    } catch (error) {
      if (ended()) {
        return;
      }
      if (!(error instanceof StoreUnavailableError)) {
        throw error;
      }
      log.warn({ topic, pauseMs, err: error }, 'store watch interrupted; retrying');
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, retryMs.most);
      continue;
    }
    if (ended()) {
      return;
    }
    const newest = entries.at(-1);
    if (newest === undefined) {
      await wakeUp.wait(topic, ticket, signal);
    } else {
      position = newest.sequence;
      yield entries;
    }
  }
}
