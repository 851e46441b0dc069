import { type FeedNotice, type WatcherMessage, watcherMessage } from '../../../contracts/system/watch';
import { permissionOf } from './channels';
import type { FeedHub } from './hub';
import type { FeedWatcher } from './watcher';

/** Longest message a watcher may send, in bytes. */
export const maxMessageBytes = 16_384;

const required = (message: WatcherMessage): string =>
  message.type === 'subscribe' && 'channel' in message ? permissionOf[message.channel] : 'task:read';

/** Executes a watcher's request, or reports why not; no message of a watcher ends the connection or the process. */
export async function handleMessage(hub: FeedHub, watcher: FeedWatcher, raw: string): Promise<void> {
  const message = parse(raw);
  if ('code' in message) {
    watcher.send(message);
    return;
  }
  const permission = required(message);
  if (!watcher.may(permission)) {
    watcher.send({
      type: 'error',
      requestType: message.type,
      code: 'FORBIDDEN',
      message: `This requires the permission ${permission}.`,
    });
    return;
  }
  if (message.type === 'subscribe:tasks') {
    watcher.choose('tasks');
    watcher.send({ type: 'tasks:subscribed' });
    return;
  }
  if (message.type === 'unsubscribe') {
    watcher.send({ type: 'unsubscribed', taskId: hub.unfollow(watcher) });
    return;
  }
  if (message.type === 'chat:subscribe') {
    return hub.followChat(watcher, message.sessionId);
  }
  if ('channel' in message) {
    watcher.choose(message.channel);
    watcher.send({ type: `${message.channel}:subscribed` });
    if (message.channel === 'agent:status') {
      watcher.send({ type: 'agent:status', ...(await hub.status()) });
    }
    return;
  }
  return hub.follow(watcher, message.taskId, {
    attemptId: message.attemptId,
    afterSequence: message.afterSequence ?? 0,
  });
}

function parse(raw: string): WatcherMessage | Extract<FeedNotice, { type: 'error' }> {
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch {
    return { type: 'error', requestType: null, code: 'BAD_REQUEST', message: 'A message must be one JSON object.' };
  }
  const parsed = watcherMessage.safeParse(value);
  if (parsed.success) {
    return parsed.data;
  }
  const type =
    typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
      ? value.type
      : null;
  return {
    type: 'error',
    requestType: type,
    code: 'VALIDATION_ERROR',
    message:
      'Expected subscribe {taskId, attemptId?, afterSequence?}, subscribe {channel: "agent:status", "run-approvals", "squad", "broadcasts", "goals" or "workflow-runs"}, subscribe:tasks, chat:subscribe {sessionId} or unsubscribe.',
  };
}
