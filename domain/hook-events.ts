import type { Hook, HookContext, HookEvent } from '../contracts/settings/hook';
import type { TaskLocation, TaskStatus } from '../contracts/tasks/task';

/** The state of a task, as far as hooks are concerned. */
export interface ObservedState {
  status: TaskStatus;
  location: TaskLocation;
}

const eventOfStatus: Partial<Record<TaskStatus, HookEvent>> = {
  'in-progress': 'task.started',
  blocked: 'task.blocked',
  done: 'task.done',
};

/** The events of a task between two observed states; `before` is absent for a task not observed before. */
export function hookEvents(before: ObservedState | undefined, now: ObservedState): HookEvent[] {
  if (!before) {
    return ['task.created'];
  }
  const events: HookEvent[] = [];
  if (before.status !== now.status) {
    const eventName = eventOfStatus[now.status];
    events.push('task.status.changed', ...(eventName ? [eventName] : []));
  }
  if (before.location !== 'archive' && now.location === 'archive') {
    events.push('task.archived');
  }
  return events;
}

/** Whether a hook is to be run for something that happened. */
export function hookFits({ enabled, event, filter }: Hook, context: HookContext): boolean {
  const { newStatus, previousStatus, type, project, priority } = filter;
  return (
    enabled &&
    event === context.event &&
    fits(newStatus, context.newStatus) &&
    fits(previousStatus, context.previousStatus) &&
    fits(type, context.taskType) &&
    fits(project, context.project) &&
    fits(priority, context.priority)
  );
}

const fits = (expected: string | undefined, actual: string | undefined): boolean =>
  expected === undefined || expected === actual;
