import type { Task, TaskLocation } from '../../../contracts/tasks/task';
import { conflict } from '../../../platform/errors/app-error';

const phrases: Record<TaskLocation, string> = {
  active: 'on the active board',
  backlog: 'in the backlog',
  archive: 'in the archive',
};

/** @throws AppError 409 with the location, for a task that is not where a request expects it */
export function assertLocation({ id }: Task, location: TaskLocation, expected: TaskLocation): void {
  if (location === expected) {
    return;
  }
  throw conflict(`Task ${id} is ${phrases[location]}, not ${phrases[expected]}.`, {
    resourceType: 'task',
    resourceId: id,
    location,
  });
}

/** The archive is a record of the past: its tasks are restored before they change. @throws AppError 409 with the location */
export function assertNotArchived({ id }: Task, location: TaskLocation): void {
  if (location !== 'archive') {
    return;
  }
  throw conflict(`Task ${id} is in the archive; restore it first.`, {
    resourceType: 'task',
    resourceId: id,
    location,
  });
}

/** A task stays on the board while an agent works on it or its result is being accepted. @throws AppError 409 with the reason */
export function assertNotRunning({ id, attempt, review }: Task): void {
  if (review?.state === 'accepting') {
    throw conflict(
      `The result of the last run of ${id} is being accepted; wait for the outcome.`,
      { resourceType: 'task', resourceId: id, review },
      'REVIEW_ACCEPTING',
    );
  }
  if (attempt?.status !== 'pending' && attempt?.status !== 'running') {
    return;
  }
  throw conflict(`Task ${id} has an active attempt; stop it or wait for its end.`, {
    resourceType: 'task',
    resourceId: id,
    attempt,
  });
}
