import type { TimeEntry, TimeTracking } from '../../../contracts/tasks/time';
import { conflict } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { findItem } from '../tasks/items';

/** A task's time, or none so far. */
type Tracked = TimeTracking | undefined;

/** Everything that follows from the entries, computed again, so that no total is ever carried on. */
function tracking(before: Tracked, entries: TimeEntry[]): TimeTracking {
  const running = entries.find(({ endTime }) => endTime === undefined);
  const { activeEntryId: _former, ...rest } = before ?? {};
  return {
    ...rest,
    entries,
    totalSeconds: trackedSeconds(entries),
    isRunning: running !== undefined,
    ...(running && { activeEntryId: running.id }),
  };
}

/** The seconds of all entries that have ended. */
export const trackedSeconds = (entries: readonly TimeEntry[]): number =>
  entries.reduce((total, { duration = 0 }) => total + duration, 0);

const runningEntry = (before: Tracked): TimeEntry | undefined =>
  before?.entries.find(({ endTime }) => endTime === undefined);

const durations = (durationMs: number) => ({ durationMs, duration: Math.floor(durationMs / 1000) });

/** @throws AppError 409 with the running entry when one runs already */
export function started(before: Tracked, id: string, now: Date): TimeTracking {
  const running = runningEntry(before);
  if (running) {
    throw conflict('The timer of the task is already running; stop it first.', { running });
  }
  return tracking(before, [...(before?.entries ?? []), { id, startTime: now.toISOString() }]);
}

/** @throws AppError 409 when no entry runs */
export function stopped(before: Tracked, now: Date): TimeTracking {
  const running = runningEntry(before);
  if (!running) {
    throw conflict('The timer of the task is not running.', { running: null });
  }
  // A clock that was set back in between does not make time negative.
  const elapsed = Math.max(0, now.getTime() - Date.parse(running.startTime));
  const ended = { ...running, endTime: now.toISOString(), ...durations(elapsed) };
  return tracking(
    before,
    (before?.entries ?? []).map((entry) => (entry === running ? ended : entry)),
  );
}

/** Adds time that was not measured; it ends now. */
export function noted(
  before: Tracked,
  { durationMs, description }: { durationMs: number; description?: string },
  { id, now }: { id: string; now: Date },
): TimeTracking {
  const entry = {
    id,
    startTime: new Date(now.getTime() - durationMs).toISOString(),
    endTime: now.toISOString(),
    ...durations(durationMs),
    ...compact({ description }),
    manual: true,
  };
  return tracking(before, [...(before?.entries ?? []), entry]);
}

/** Takes an entry away; a running one is dropped without being counted. @throws AppError 404 */
export function withoutEntry(before: Tracked, id: string): TimeTracking {
  const current = findItem(before?.entries, id, 'time entry');
  return tracking(
    before,
    (before?.entries ?? []).filter((entry) => entry !== current),
  );
}
