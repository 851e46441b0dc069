import type { AgentStatus, FeedMessage, RunApproval, SquadMessage, Task } from '../api/client';
import { keys } from '../api/keys';
import { queryClient } from '../api/query-client';
import { createStore } from '../ui/store';
import { listen, onReturn } from './connection';

/** While it is true, the board stays as it is: no card moves under the pointer. */
export const boardIsHeld = createStore(false);

let pending: FeedMessage[] = [];
let scheduled = false;

/** The newer one of two states of a task. */
const newer = (known: Task, received: Task): Task => (received.revision >= known.revision ? received : known);

/** Adds or replaces a task of a list. */
export function withTask(list: readonly Task[], task: Task): Task[] {
  const index = list.findIndex(({ id }) => id === task.id);
  if (index < 0) {
    return [...list, task];
  }
  const copy = [...list];
  copy[index] = newer(copy[index] ?? task, task);
  return copy;
}

function applyTasks(messages: readonly FeedMessage[]): void {
  const updated = new Map<string, Task>();
  const gone = new Set<string>();
  for (const message of messages) {
    if (message.type === 'task:updated') {
      updated.set(message.task.id, message.task);
      gone.delete(message.task.id);
    }
    if (message.type === 'task:changed') {
      const isActive = message.changeType !== 'deleted' && message.location === 'active';
      (isActive ? (id: string) => gone.delete(id) : (id: string) => gone.add(id))(message.taskId);
    }
  }
  if (updated.size === 0 && gone.size === 0) {
    return;
  }
  if (gone.size > 0) {
    void queryClient.invalidateQueries({ queryKey: keys.backlog });
    void queryClient.invalidateQueries({ queryKey: keys.archive });
  }
  queryClient.setQueryData<Task[]>(keys.tasks, (list) => {
    if (!list) {
      return list;
    }
    const rest = new Map(updated);
    const merged = list
      .filter(({ id }) => !gone.has(id))
      .map((task) => {
        const received = rest.get(task.id);
        rest.delete(task.id);
        return received ? newer(task, received) : task;
      });
    return [...merged, ...[...rest.values()].filter(({ id }) => !gone.has(id))];
  });
  for (const task of updated.values()) {
    queryClient.setQueryData<Task>(keys.task(task.id), (known) => (known ? newer(known, task) : known));
    void queryClient.invalidateQueries({ queryKey: keys.ofTask(task.id) });
  }
}

function flush(): void {
  scheduled = false;
  if (boardIsHeld.get()) {
    return;
  }
  const messages = pending;
  pending = [];
  applyTasks(messages);
}

function schedule(): void {
  if (!scheduled) {
    scheduled = true;
    requestAnimationFrame(flush);
  }
}

function apply(message: FeedMessage): void {
  switch (message.type) {
    case 'task:updated':
    case 'task:changed':
      pending.push(message);
      schedule();
      return;
    case 'agent:status': {
      const { type: _type, ...status } = message;
      queryClient.setQueryData<AgentStatus>(keys.agentStatus, status);
      void queryClient.invalidateQueries({ queryKey: keys.queue });
      return;
    }
    case 'run-approval:changed':
      queryClient.setQueryData<RunApproval[]>(keys.approvals, (list) =>
        list ? [message.approval, ...list.filter(({ id }) => id !== message.approval.id)] : list,
      );
      return;
    case 'squad:message':
      queryClient.setQueryData<SquadMessage[]>(keys.squad, (list) =>
        list && !list.some(({ id }) => id === message.message.id) ? [...list, message.message] : list,
      );
      return;
    case 'recovery:changed':
      void queryClient.invalidateQueries({ queryKey: keys.recoveries });
      return;
    case 'workflow-run:changed':
      void queryClient.invalidateQueries({ queryKey: keys.workflowRuns });
      return;
    case 'squad:pin':
    case 'squad:reaction':
      void queryClient.invalidateQueries({ queryKey: keys.squad });
      return;
    default:
  }
}

/** Applies what the feed reports to what was read; after a lost connection everything that is shown is read again. */
export function applyFeed(): () => void {
  const stops = [
    listen(apply),
    onReturn(() => void queryClient.invalidateQueries()),
    boardIsHeld.subscribe(() => !boardIsHeld.get() && schedule()),
  ];
  return () => stops.forEach((stop) => stop());
}
