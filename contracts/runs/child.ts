import { z } from 'zod';
import { attemptId, slug, taskId, timestamp } from '../common';
import { attemptState } from './attempt';
import { completionStatus } from './completion';
import { launchRequest } from './launch/launch';

/** What an agent launches on another task; its parent is the attempt whose handle it presents. */
export const childLaunch = launchRequest.omit({ parentAttemptId: true }).extend({ taskId }).meta({ id: 'ChildLaunch' });

/** A descendant as the agent of one of its ancestors sees it. */
export const runChild = z
  .object({
    taskId,
    attemptId,
    parentAttemptId: attemptId.nullable(),
    depth: z.number().int(),
    agent: slug,
    phase: z.string(),
    state: attemptState,
    createdAt: timestamp,
    startedAt: timestamp.nullable(),
    endedAt: timestamp.nullable(),
    status: completionStatus.nullable(),
    summary: z.string().nullable(),
  })
  .meta({ id: 'RunChild' });
export type RunChild = z.infer<typeof runChild>;
