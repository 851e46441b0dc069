import { z } from 'zod';
import type { AgentStatus } from '../chat/agent-status';
import type { Broadcast } from '../chat/broadcast';
import { chatId, type ChatMessage } from '../chat/session';
import type { Mention, SquadMessage } from '../chat/squad';
import { attemptId, taskId } from '../common';
import type { ReviewState } from '../governance/decision-review';
import type { GoalState } from '../governance/goals/goal';
import type { RunApproval } from '../runs/approval';
import type { RunEvent } from '../runs/event';
import type { RunRecovery } from '../runs/recovery';
import type { Task, TaskLocation } from '../tasks/task';

/** A watcher's message. `subscribe` follows one task: a new one replaces the former. */
export const watcherMessage = z.union([
  z.strictObject({
    type: z.literal('subscribe'),
    taskId,
    attemptId: attemptId.optional(),
    afterSequence: z.number().int().min(0).optional(),
    workspaceId: z.string().max(64).optional(),
  }),
  z.strictObject({
    type: z.literal('subscribe'),
    channel: z.enum(['agent:status', 'run-approvals', 'squad', 'broadcasts', 'goals', 'workflow-runs']),
    workspaceId: z.string().max(64).optional(),
  }),
  z.strictObject({ type: z.literal('subscribe:tasks'), workspaceId: z.string().max(64).optional() }),
  z.strictObject({ type: z.literal('chat:subscribe'), sessionId: chatId, workspaceId: z.string().max(64).optional() }),
  z.strictObject({ type: z.literal('unsubscribe'), taskId: taskId.optional() }),
]);
export type WatcherMessage = z.infer<typeof watcherMessage>;

/** A message on the board: the feed carries it to every replica as it is published. */
export type BoardNotice =
  | { type: 'squad:message'; message: SquadMessage }
  | { type: 'squad:mention'; messageId: string; agent: string; mention: Mention }
  | { type: 'squad:read'; actor: string; lastReadAt: string; lastReadMessageId: string }
  | { type: 'squad:pin'; messageId: string; pinned: boolean; decision: boolean }
  | { type: 'squad:reaction'; messageId: string; actor: string; reaction: string }
  | { type: 'chat:message'; sessionId: string; message: ChatMessage }
  | { type: 'broadcast:new'; broadcast: Broadcast }
  | { type: 'goal:changed'; goalId: string; state: GoalState; revision: number; updatedAt: string }
  | { type: 'workflow-run:changed'; runId: string; revision: number }
  | { type: 'recovery:changed'; attemptId: string; taskId: string; state: RunRecovery['state']; revision: number }
  | {
      type: 'decision-review:changed';
      reviewId: string;
      taskId: string;
      state: ReviewState;
      round: number;
      revision: number;
    };

/** What a watcher receives. `sequence` of run messages is the event's own: what to resume from. */
export type FeedNotice =
  | { type: 'connected'; workspaceId: string }
  | { type: 'subscribed'; taskId: string; attemptId: string | null; cursor: number; running: boolean }
  | { type: 'tasks:subscribed' }
  | { type: 'agent:status:subscribed' }
  | { type: 'run-approvals:subscribed' }
  | { type: 'squad:subscribed' }
  | { type: 'broadcasts:subscribed' }
  | { type: 'goals:subscribed' }
  | { type: 'workflow-runs:subscribed' }
  | { type: 'chat:subscribed'; sessionId: string }
  | BoardNotice
  | { type: 'run-approval:changed'; approval: RunApproval }
  | { type: 'unsubscribed'; taskId: string | null }
  | { type: 'task:updated'; task: Task }
  | {
      type: 'task:changed';
      changeType: 'created' | 'updated' | 'deleted' | 'moved';
      taskId: string;
      location: TaskLocation;
    }
  | { type: 'agent:event'; taskId: string; attemptId: string; sequence: number; data: RunEvent }
  | {
      type: 'agent:output';
      taskId: string;
      attemptId: string;
      sequence: number;
      outputType: 'stdout' | 'stderr';
      data: string;
    }
  | { type: 'agent:complete'; taskId: string; attemptId: string; sequence: number; status: string }
  | ({ type: 'agent:status' } & AgentStatus)
  | { type: 'error'; requestType: string | null; code: string; message: string };
