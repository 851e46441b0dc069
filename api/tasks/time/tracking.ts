import type { TimeTracking } from '../../../contracts/tasks/time';
import {
  durations,
  runningEntry,
  type Tracked,
  tracking,
  withTimer,
  withTimerEnded,
} from '../../../domain/time/entries';
import { conflict } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { findItem } from '../tasks/items';

/** @throws AppError 409 with the running entry when one runs already */
export function started(before: Tracked, id: string, now: Date): TimeTracking {
  const running = runningEntry(before);
  if (running) {
    throw conflict('The timer of the task is already running; stop it first.', { running });
  }
  return withTimer(before, { id, now });
}

/** @throws AppError 409 when no entry runs */
export function stopped(before: Tracked, now: Date): TimeTracking {
  const running = runningEntry(before);
  if (!running) {
    throw conflict('The timer of the task is not running.', { running: null });
  }
  return withTimerEnded(before, running, now);
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
