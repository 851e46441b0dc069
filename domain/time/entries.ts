import type { Task } from '../../contracts/tasks/task';
import type { TimeEntry, TimeTracking } from '../../contracts/tasks/time';

/** A task's time, or none so far. */
export type Tracked = TimeTracking | undefined;

/** Everything that follows from the entries, computed again, so that no total is ever carried on. */
export function tracking(before: Tracked, entries: TimeEntry[]): TimeTracking {
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

/** The entry of the timer that runs. */
export const runningEntry = (before: Tracked): TimeEntry | undefined =>
  before?.entries.find(({ endTime }) => endTime === undefined);

/** How long an entry is, in both units. */
export const durations = (durationMs: number) => ({ durationMs, duration: Math.floor(durationMs / 1000) });

/** The time with an entry that runs from now on. */
export const withTimer = (before: Tracked, { id, now }: { id: string; now: Date }): TimeTracking =>
  tracking(before, [...(before?.entries ?? []), { id, startTime: now.toISOString() }]);

/** What ends the timer of a task that is put away: no time passes on it there. Nothing when none runs. */
export function timerEnded(
  { timeTracking }: Pick<Task, 'timeTracking'>,
  now: Date,
): Partial<Pick<Task, 'timeTracking'>> {
  const running = runningEntry(timeTracking);
  return running ? { timeTracking: withTimerEnded(timeTracking, running, now) } : {};
}

/** The time with the running entry ended. */
export function withTimerEnded(before: Tracked, running: TimeEntry, now: Date): TimeTracking {
  // A clock that was set back in between does not make time negative.
  const elapsed = Math.max(0, now.getTime() - Date.parse(running.startTime));
  const ended = { ...running, endTime: now.toISOString(), ...durations(elapsed) };
  return tracking(
    before,
    (before?.entries ?? []).map((entry) => (entry === running ? ended : entry)),
  );
}
