import type { AgentStatus } from '../../../contracts/chat/agent-status';
import { attemptState } from '../../../contracts/runs/attempt';
import type { FeedMessage } from '../../../contracts/system/feed';
import type { BoardNotice, FeedNotice } from '../../../contracts/system/watch';
import type { Position } from '../../../platform/lists/page';
import type { Log } from '../../../platform/log/log';
import type { Board } from '../../../stores/board-files/board';
import type { Stores } from '../../../stores/open-stores';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import { currentAgentStatus } from '../../chat/agent-status/current';
import { channelOf, permissionOf } from './channels';
import { type AttemptEnd, Follower } from './follower';
import { type ReadPage, shareReads } from './shared-reads';
import type { Channel, FeedWatcher } from './watcher';

export interface HubContext extends Pick<
  Stores,
  'agentStatus' | 'approvals' | 'attempts' | 'chats' | 'events' | 'feed'
> {
  board: Pick<Board, 'get' | 'onChange'>;
  log: Log;
}

/** Statuses that come in one burst are published once, after this many milliseconds. */
const statusPauseMs = 100;
/** Attempts of a task that are read at a time. */
const attemptPageSize = 50;

/**
 * Passes on what happens to the watchers of this replica: changes of tasks from its own index of the board files, runs
 * from the feed that every replica tails.
 */
export class FeedHub {
  private readonly watchers = new Set<FeedWatcher>();
  private readonly followers = new Map<FeedWatcher, Follower>();
  private readonly stopping = new AbortController();
  private statusTimer: NodeJS.Timeout | undefined;
  private tailing: Promise<void> | undefined;
  private forgetBoard: (() => void) | undefined;

  private readonly readPage: ReadPage;

  constructor(private readonly context: HubContext) {
    this.readPage = shareReads(context.events);
  }

  async start(): Promise<void> {
    const after = await this.context.feed.last();
    this.forgetBoard = this.context.board.onChange((change) => {
      const { taskId, kind, task, location } = change;
      if (task && kind !== 'deleted') {
        this.notify('tasks', { type: 'task:updated', task });
      }
      this.notify('tasks', { type: 'task:changed', changeType: kind, taskId, location });
    });
    this.tailing = this.tail(after);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.forgetBoard?.();
    clearTimeout(this.statusTimer);
    for (const follower of this.followers.values()) {
      follower.stop();
    }
    await this.tailing;
  }

  add(watcher: FeedWatcher): void {
    this.watchers.add(watcher);
    watcher.send({ type: 'connected', workspaceId: watcher.auth.workspaceId });
  }

  remove(watcher: FeedWatcher): void {
    this.watchers.delete(watcher);
    this.unfollow(watcher);
  }

  /**
   * Follows a task from one of its attempts (the latest, unless one is chosen): stored events after `afterSequence`, then new
   * ones, retries included. Replaces what was followed before.
   */
  async follow(
    watcher: FeedWatcher,
    taskId: string,
    { attemptId: chosen, afterSequence }: { attemptId: string | undefined; afterSequence: number },
  ): Promise<void> {
    this.unfollow(watcher);
    const refuse = (message: string) =>
      watcher.send({ type: 'error', requestType: 'subscribe', code: 'NOT_FOUND', message });
    const record =
      chosen === undefined ? await this.context.attempts.latest(taskId) : await this.context.attempts.get(chosen);
    if (chosen !== undefined && record?.taskId !== taskId) {
      refuse(`No attempt ${chosen} of ${taskId}.`);
      return;
    }
    if (!record && !(await this.context.board.get(taskId))) {
      refuse(`No task has the id ${taskId}.`);
      return;
    }
    const follower = new Follower(watcher, {
      readPage: this.readPage,
      taskId,
      after: { attemptId: record?._id, sequence: afterSequence },
      onError: (error) => this.context.log.error({ err: error, taskId }, 'watcher notification failed'),
    });
    if (!watcher.open) {
      return;
    }
    // Registered before the end is read: events appended in between are received, and read once.
    this.followers.set(watcher, follower);
    try {
      await this.begin(follower, record);
    } catch (error) {
      this.unfollow(watcher);
      throw error;
    }
  }

  private async begin(follower: Follower, record: AttemptRecord | undefined): Promise<void> {
    const { last } = this.context.events;
    const cursor = record ? await last(record._id) : 0;
    const later = record ? await this.laterAttempts(record) : [];
    const ends: AttemptEnd[] = record ? [{ attemptId: record._id, upTo: cursor }] : [];
    for (const attemptId of later) {
      ends.push({ attemptId, upTo: await last(attemptId) });
    }
    follower.watcher.send({
      type: 'subscribed',
      taskId: follower.taskId,
      attemptId: record?._id ?? null,
      cursor,
      running: record !== undefined && record.state !== 'ended' && record.state !== 'refused',
    });
    follower.start(ends);
  }

  /** Attempts of the same task that came after one, oldest first: its retries, for a watcher that was away. */
  private async laterAttempts(record: AttemptRecord): Promise<string[]> {
    const later: string[] = [];
    let cursor: Position | undefined;
    do {
      const part = { limit: attemptPageSize, cursor };
      const { items, next } = await this.context.attempts.list(record.taskId, part, { states: attemptState.options });
      const after = items.filter((other) => other.createdAt > record.createdAt);
      later.push(...after.map((other) => other._id));
      cursor = after.length === items.length ? next : undefined;
    } while (cursor);
    return later.reverse();
  }

  unfollow(watcher: FeedWatcher): string | null {
    const follower = this.followers.get(watcher);
    follower?.stop();
    this.followers.delete(watcher);
    return follower?.taskId ?? null;
  }

  /** Follows the messages of a chat session from now on, instead of the one followed before. */
  async followChat(watcher: FeedWatcher, sessionId: string): Promise<void> {
    if (await this.context.chats.get(sessionId)) {
      watcher.chatId = sessionId;
      watcher.send({ type: 'chat:subscribed', sessionId });
      return;
    }
    const message = `No chat session has the id ${sessionId}.`;
    watcher.send({ type: 'error', requestType: 'chat:subscribe', code: 'NOT_FOUND', message });
  }

  /** Who works now. */
  status(): Promise<AgentStatus> {
    return currentAgentStatus(this.context);
  }

  private async tail(after: number): Promise<void> {
    try {
      for await (const entries of this.context.feed.watch(after, this.stopping.signal)) {
        for (const { message } of entries) {
          this.pass(message);
        }
      }
    } catch (error) {
      if (!this.stopping.signal.aborted) {
        this.context.log.error({ err: error }, 'feed watch ended');
      }
    }
  }

  private pass(message: FeedMessage): void {
    if (message.type === 'agent.status') {
      this.statusTimer ??= setTimeout(() => void this.sendStatus(), statusPauseMs);
    } else if (message.type === 'notice') {
      this.sendNotice(message.notice);
    } else if (message.type === 'run-approval.changed') {
      void this.sendApproval(message.approvalId);
    } else {
      for (const follower of this.followers.values()) {
        if (follower.taskId === message.taskId) {
          follower.received(message.attemptId, message.upTo);
        }
      }
    }
  }

  /** Publishes a notice: in a chat session to those who follow it, anything else on its channel. */
  private sendNotice(notice: BoardNotice): void {
    if (notice.type !== 'chat:message') {
      this.notify(channelOf(notice), notice);
      return;
    }
    for (const watcher of this.watchers) {
      if (watcher.chatId === notice.sessionId) {
        watcher.send(notice);
      }
    }
  }

  /** Publishes the present record: changes that come in one burst may be published as one. */
  private async sendApproval(approvalId: string): Promise<void> {
    try {
      const approval = await this.context.approvals.get(approvalId);
      if (approval) {
        this.notify('run-approvals', { type: 'run-approval:changed', approval });
      }
    } catch (error) {
      this.context.log.error({ err: error, approvalId }, 'approval notification failed');
    }
  }

  private async sendStatus(): Promise<void> {
    this.statusTimer = undefined;
    try {
      this.notify('agent:status', { type: 'agent:status', ...(await this.status()) });
    } catch (error) {
      this.context.log.error({ err: error }, 'agent status notification failed');
    }
  }

  private notify(channel: Channel, notice: FeedNotice): void {
    for (const watcher of this.watchers) {
      if (watcher.receives(channel) && watcher.may(permissionOf[channel])) {
        watcher.send(notice);
      }
    }
  }
}
