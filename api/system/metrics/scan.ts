import { AsyncLocalStorage } from 'node:async_hooks';
import type { Period } from '../../../contracts/period';
import type { Coverage } from '../../../contracts/system/metrics';
import type { TelemetryEvent } from '../../../contracts/system/telemetry';
import { dayMs } from '../../../domain/periods/zone';
import { createFairQueue } from '../../../platform/operations/fair-queue';
import { telemetryRetentionDays, type TelemetryStore } from '../../../stores/system/telemetry-store';

/** Events of one type that one answer counts; of more, the newest. */
export const maxEvents = 500_000;

/** How long an answer reads events after its turn has come, and when it stops at the latest after it was requested, in milliseconds. */
export const reading = { forMs: 10_000, withinMs: 20_000 };

/** When the answer that is being computed reads no more events. */
const deadlines = new AsyncLocalStorage<number>();

/** Scans of this process: each reads a part of a second of events, and then lets others have their turn. */
const queue = createFairQueue({
  concurrency: 2,
  longest: 10,
  refusal: { code: 'TOO_MANY_QUERIES', message: 'Too many of your statistics are being computed. Ask again later.' },
});

/** What the events of a period are read of. */
export interface Scan {
  telemetry: Pick<TelemetryStore, 'pages'>;
  period: Period;
  project?: string | undefined;
  /** The most events of one type; the newest are counted. */
  max?: number;
}

type Type = TelemetryEvent['type'];

/** Takes the events of one type, a page at a time. @returns when those that were taken begin */
async function scanType(
  { telemetry, period: { from, to }, project, max = maxEvents }: Scan,
  type: Type,
  take: (events: TelemetryEvent[]) => Promise<void> | void,
): Promise<string | null> {
  let taken = 0;
  const begun = performance.now();
  // What is left is for the types, and the scans, that follow.
  const until = begun + Math.max(0, ((deadlines.getStore() ?? Infinity) - begun) / 2);
  for await (const page of telemetry.pages({ type, from, to, project })) {
    if (taken + page.length > max) {
      const part = page.slice(0, max - taken);
      await take(part);
      return part.at(-1)?.timestamp ?? page[0]?.timestamp ?? from;
    }
    taken += page.length;
    await take(page);
    const last = page.at(-1);
    if (last && performance.now() >= until) {
      return last.timestamp;
    }
  }
  return from;
}

/** The moment before which events have expired. */
const horizon = (now: number): string => new Date(now - telemetryRetentionDays * dayMs).toISOString();

/**
 * Has events of a period taken by their type, the newest first, one type after the other.
 *
 * @returns whether these are all events of the period, and when they begin
 */
export async function scan(
  source: Scan,
  takers: Partial<Record<Type, (events: TelemetryEvent[]) => Promise<void> | void>>,
): Promise<Coverage> {
  const begins: (string | null)[] = [];
  for (const [type, take] of Object.entries(takers)) {
    begins.push(await scanType(source, type as Type, take));
  }
  const { from } = source.period;
  const expired = from !== null && from < horizon(Date.now()) ? [horizon(Date.now())] : [];
  const since = [...begins, ...expired].reduce(
    (latest, one) => (one !== null && one > (latest ?? '') ? one : latest),
    from,
  );
  return { complete: since === from, since };
}

/**
 * Has one question of a caller answered at a time, and few of all callers. What is scanned for it ends in time for an answer: of more
 * events than can be read until then, the newest count.
 *
 * @throws AppError 429
 */
export function inTurn<T>(caller: string, answer: () => Promise<T>, { forMs, withinMs } = reading): Promise<T> {
  const latest = performance.now() + withinMs;
  return queue.run(caller, () => deadlines.run(Math.min(latest, performance.now() + forMs), answer));
}
