import type { Task, TaskCreate } from '../../contracts/tasks/task';
import { compact } from '../../platform/json/compact';
import { fieldsOfIssue } from '../issue-sync/issue-text';
import { fieldsOfLabels } from '../issue-sync/labels';

const priorities: Partial<Record<string, Task['priority']>> = {
  ...{ low: 'low', lowest: 'low', minor: 'low', trivial: 'low' },
  ...{ medium: 'medium', normal: 'medium', major: 'medium', high: 'high' },
  ...{ critical: 'critical', highest: 'critical', blocker: 'critical', urgent: 'critical' },
};

interface ImportedItem {
  id: string;
  title: string;
  body: string;
  state: 'open' | 'closed';
  labels: readonly string[];
  priority: string | null;
}

/** The task that a work item becomes, with text that is safe to store and to show. */
export function taskOfItem({ id, title, body, state, labels, priority }: ImportedItem): TaskCreate {
  const fields = fieldsOfIssue({ number: id, title, body, state });
  const named = Object.hasOwn(priorities, (priority ?? '').toLowerCase())
    ? priorities[(priority ?? '').toLowerCase()]
    : undefined;
  return {
    title: fields.title,
    description: fields.body,
    ...fieldsOfLabels(labels),
    ...compact({ priority: named }),
  };
}
