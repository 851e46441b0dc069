import type { TransitionAction } from '../../contracts/settings/transition-hook';
import type { TimeTracking } from '../../contracts/tasks/time';
import { runningEntry, withTimer, withTimerEnded } from '../time/entries';

/** No task has more time entries: a status is not refused for it. */
const maxEntries = 1000;

/**
 * What the actions after a change make of a task's timer, as part of the change; `undefined` when nothing. A timer that runs is
 * not started again, and where rules ask for both it is stopped.
 */
export function timerAfter(
  actions: readonly Pick<TransitionAction, 'type'>[],
  current: TimeTracking | undefined,
  { id, now }: { id: string; now: Date },
): TimeTracking | undefined {
  const asks = (type: TransitionAction['type']): boolean => actions.some((action) => action.type === type);
  const running = runningEntry(current);
  if (asks('auto-stop-timer')) {
    return running && withTimerEnded(current, running, now);
  }
  const hasRoom = (current?.entries.length ?? 0) < maxEntries;
  return asks('auto-start-timer') && !running && hasRoom ? withTimer(current, { id, now }) : undefined;
}
