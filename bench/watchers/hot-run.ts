import { setTimeout as delay } from 'node:timers/promises';
import { createLog } from '../../platform/log/log';
import type { Database } from '../../stores/port/collection';
import { openDatabase } from '../../stores/port/open';
import { type AttemptRecord, createAttemptStore } from '../../stores/runs/attempt-store';
import { createRunEventStore } from '../../stores/runs/event-store';
import { createFeedStore } from '../../stores/system/feed-store';
import { now } from './children';

/** A run whose events this process appends, as its worker would. */
export interface HotRun {
  taskId: string;
  attemptId: string;
  /** Its last sequence. */
  readonly last: number;
  /** Appends so many events a second; resolves with their number, and how long the appends took. */
  append(load: { perSecond: number; seconds: number }): Promise<{ events: number; appendMs: number[] }>;
  /** Publishes a notice to every watcher that has chosen no channel. */
  notify(text: string): Promise<void>;
  close(): Promise<void>;
}

/** How often events are appended, in milliseconds: a worker takes what an agent has written meanwhile. */
const everyMs = 10;

export async function openHotRun(dataDir: string, taskId: string): Promise<HotRun> {
  const log = createLog({ name: 'bench', level: 'warn' });
  const database: Database = await openDatabase({ mongoUrl: process.env.MONGODB_URL, dataDir, log });
  const feed = await createFeedStore(database);
  const [events, attempts] = await Promise.all([createRunEventStore(database, feed), createAttemptStore(database)]);
  const attemptId = `attempt_${taskId
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(-12)
    .padStart(12, '0')}`;
  await attempts.create({
    _id: attemptId,
    taskId,
    rootAttemptId: attemptId,
    state: 'running',
    revision: 1,
    createdAt: new Date().toISOString(),
  } as AttemptRecord);
  const source = { taskId, attemptId, provider: 'process', agent: 'bench' };
  let last = 0;
  return {
    taskId,
    attemptId,
    get last() {
      return last;
    },
    async append({ perSecond, seconds }) {
      const appendMs: number[] = [];
      const before = last;
      const startedAt = now();
      for (let done = 0; done < perSecond * seconds;) {
        const due = Math.min(perSecond * seconds, Math.ceil(((now() - startedAt + everyMs) / 1000) * perSecond));
        const inputs = Array.from({ length: due - done }, (_, at) => ({
          kind: 'progress' as const,
          payload: { message: `step ${last + at} of the work`, percent: 50, at: now() },
        }));
        const sequences = await events.append(source, inputs);
        appendMs.push(now() - (inputs[0]?.payload.at ?? now()));
        last = sequences.at(-1) ?? last;
        done = due;
        await delay(Math.max(0, startedAt + (done / perSecond) * 1000 - now()));
      }
      return { events: last - before, appendMs };
    },
    notify: (text) =>
      feed.append({
        type: 'notice',
        notice: { type: 'squad:read', actor: text, lastReadAt: new Date().toISOString(), lastReadMessageId: 'bench' },
      }),
    close: () => database.close(),
  };
}
