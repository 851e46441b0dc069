import { z } from 'zod';
import { revision, taskId, text, timestamp } from '../common';

/** The type of the tasks that sessions outside of the board do. */
export const automationType = 'automation';

export const automationId = z.string().regex(/^automation_[0-9a-f]{12}$/, 'must look like automation_0123456789ab');

const sessionKey = text(200, 1);
const result = text(20_000);

/**
 * The latest start of an automation task, by a session that is none of the board's runs. Loose, with all optional: a person may
 * have written it into the task's file.
 */
export const taskAutomation = z
  .looseObject({
    /** Of this start; a completion may name it. */
    id: automationId.optional(),
    /** Names the session that does it. It is shown with the task, and is no secret. */
    sessionKey: sessionKey.optional(),
    startedBy: z.string().optional(),
    spawnedAt: timestamp.optional(),
    completedAt: timestamp.optional(),
    status: z.enum(['running', 'complete', 'failed']).optional(),
    result: result.optional(),
  })
  .meta({ id: 'TaskAutomation' });
export type TaskAutomation = z.infer<typeof taskAutomation>;

export const automationStart = z
  .strictObject({ sessionKey: sessionKey.optional(), expectedRevision: revision.optional() })
  .meta({ id: 'AutomationStart' });

export const automationStarted = z
  .object({
    taskId,
    attemptId: automationId,
    title: z.string(),
    description: z.string(),
    project: z.string().optional(),
    automation: taskAutomation,
  })
  .meta({ id: 'AutomationStarted' });

export const automationCompletion = z
  .strictObject({
    /** The start that is completed; another one is 409. The current one when absent. */
    attemptId: automationId.optional(),
    status: z.enum(['complete', 'failed']),
    result: result.optional(),
    expectedRevision: revision.optional(),
  })
  .meta({ id: 'AutomationCompletion' });

export const automationCompleted = z
  .object({ taskId, status: z.string(), automation: taskAutomation })
  .meta({ id: 'AutomationCompleted' });
