import type { Task, TaskStatus } from '../api/client';
import { completionState } from '../runs/attempt-state';
import type { IconName } from '../ui/icon';
import type { Tone } from '../ui/toast';

export const statuses: readonly TaskStatus[] = ['todo', 'in-progress', 'blocked', 'done'];

export const statusLabel: Record<TaskStatus, string> = {
  todo: 'To do',
  'in-progress': 'In progress',
  blocked: 'Blocked',
  done: 'Done',
};

export const statusIcon: Record<TaskStatus, IconName> = {
  todo: 'circle',
  'in-progress': 'half',
  blocked: 'blocked',
  done: 'done',
};

export const statusTone: Record<TaskStatus, Tone> = {
  todo: 'grey',
  'in-progress': 'blue',
  blocked: 'amber',
  done: 'green',
};

export const priorities = ['critical', 'high', 'medium', 'low'] as const satisfies readonly Task['priority'][];

export type Priority = Task['priority'];

export const priorityLabel: Record<Priority, string> = {
  critical: 'Critical',
  high: 'High',
  medium: 'Medium',
  low: 'Low',
};

/** The state of the last run as a word, a colour and an icon. */
export function runState(task: Task): { label: string; tone: Tone; icon: IconName } | undefined {
  const { attempt, review } = task;
  if (review?.state === 'pending') {
    return { label: 'Review', tone: 'amber', icon: 'review' };
  }
  if (review?.state === 'accepting' || review?.state === 'awaiting-merge') {
    return { label: review.state === 'accepting' ? 'Merging' : 'Awaiting merge', tone: 'blue', icon: 'spinner' };
  }
  switch (attempt?.status) {
    case 'pending':
      return { label: 'Queued', tone: 'grey', icon: 'clock' };
    case 'running':
      return { label: 'Running', tone: 'blue', icon: 'spinner' };
    case 'failed':
    case 'complete':
      return completionState(attempt.result ?? (attempt.status === 'failed' ? 'failed' : 'success'));
    default:
      return undefined;
  }
}
