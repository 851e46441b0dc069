import type { TaskSubscription } from '../../../contracts/chat/notification';
import type { Task } from '../../../contracts/tasks/task';
import { mentionsIn } from './mentions';

type Reason = TaskSubscription['reasons'][number];

/** Who has to do with a task, and why, by name. */
export function subscriptionsOf({ id: taskId, agent, assignee, comments = [] }: Task): TaskSubscription[] {
  const reasons = new Map<string, Set<Reason>>();
  const add = (name: string, reason: Reason) => reasons.set(name, (reasons.get(name) ?? new Set()).add(reason));
  // `auto` stands for the agent that routing will choose: no subscriber yet.
  for (const name of [agent, assignee]) {
    if (name && name !== 'auto') {
      add(name, 'assigned');
    }
  }
  // What was imported is from people elsewhere, who subscribe no one here by a name or a mention.
  for (const { author, text } of comments.filter(({ source }) => source === undefined)) {
    add(author, 'commented');
    for (const { target } of mentionsIn(text)) {
      add(target, 'mentioned');
    }
  }
  return [...reasons]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, why]) => ({ taskId, agent: name, reasons: [...why] }));
}
