import { z } from 'zod';
import { taskId, text, timestamp } from '../../common';
import { workflowId } from './definition';

/** So many of the latest runs of a workflow are counted. */
export const countedRuns = 50;

export const launchRecommendationQuery = z
  .strictObject({
    /** The task that a run is to be for: runs for tasks of its type count. */
    taskId: taskId.optional(),
    taskType: text(50, 1).optional(),
    /** How many runs a workflow needs to be recommended. */
    minSamples: z.coerce.number().int().min(1).max(countedRuns).default(3),
    limit: z.coerce.number().int().min(1).max(100).default(10),
  })
  .refine(({ taskId: id, taskType }) => id === undefined || taskType === undefined, {
    path: ['taskType'],
    message: 'is that of the task when taskId is given',
  });

/** A workflow, and what its ended runs speak for. */
export const launchRecommendation = z
  .object({
    workflowId,
    name: z.string(),
    version: z.number().int(),
    /** Of the latest 50 runs of all versions, those that completed or failed and count; cancelled ones do not. */
    samples: z.number().int(),
    successes: z.number().int(),
    successRate: z.number(),
    /** The rate that the samples speak for with 95 % certainty, by which the list is sorted. */
    score: z.number(),
    /** From start to end of the runs that completed, waits included. */
    medianDurationMs: z.number().nullable(),
    lastEndedAt: timestamp.nullable(),
  })
  .meta({ id: 'LaunchRecommendation' });
export type LaunchRecommendation = z.infer<typeof launchRecommendation>;

export const launchRecommendations = z
  .object({
    /** The type of tasks whose runs count; null for all runs. */
    taskType: z.string().nullable(),
    recommendations: z.array(launchRecommendation),
    /** Why there are none; null otherwise. */
    reason: z.string().nullable(),
  })
  .meta({ id: 'LaunchRecommendations' });
