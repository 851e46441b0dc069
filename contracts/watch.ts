import { z } from 'zod';
import { attemptId, taskId } from './common';
import type { RunApproval } from './run-approval';
import type { RunEvent } from './run-event';
import type { Task, TaskLocation } from './task';

/** What a watcher may say. `subscribe` follows one task: a new one replaces the former. */
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
    channel: z.enum(['agent:status', 'run-approvals']),
    workspaceId: z.string().max(64).optional(),
  }),
  z.strictObject({ type: z.literal('subscribe:tasks'), workspaceId: z.string().max(64).optional() }),
  z.strictObject({ type: z.literal('unsubscribe'), taskId: taskId.optional() }),
]);
export type WatcherMessage = z.infer<typeof watcherMessage>;

/** Who works now, as `agent:status` tells it. */
export interface AgentStatus {
  status: 'idle' | 'working';
  subAgentCount: number;
  activeAgents: {
    agent: string;
    status: string;
    taskId: string;
    taskTitle: string;
    attemptId: string;
    startedAt?: string;
  }[];
}

/** What a watcher hears. `sequence` of run messages is the event's own: what to resume from. */
export type FeedNotice =
  | { type: 'connected'; workspaceId: string }
  | { type: 'subscribed'; taskId: string; attemptId: string | null; cursor: number; running: boolean }
  | { type: 'tasks:subscribed' }
  | { type: 'agent:status:subscribed' }
  | { type: 'run-approvals:subscribed' }
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
