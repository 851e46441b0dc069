import { z } from 'zod';
import { taskId, text, timestamp } from '../common';
import { paging } from '../query';
import { taskCreate, taskPriority } from '../tasks/task';

/** Either a task, or what it will be like. */
export const costPredictionRequest = z
  .strictObject({
    taskId: taskId.optional(),
    type: taskCreate.shape.type,
    priority: taskPriority.optional(),
    project: text(200).optional(),
    description: text(100_000).optional(),
    subtaskCount: z.number().int().min(0).max(500).optional(),
  })
  .refine(({ taskId, type }) => (taskId === undefined) !== (type === undefined), {
    path: ['taskId'],
    message: 'exactly one of taskId and type is required',
  })
  .refine(({ taskId, type: _type, ...likeness }) => taskId === undefined || Object.keys(likeness).length === 0, {
    path: ['taskId'],
    message: 'cannot be combined with other fields',
  })
  .meta({ id: 'CostPredictionRequest' });

export const predictionConfidence = z.enum(['low', 'medium', 'high']);

/** The predicted cost of a task, from that of finished tasks like it; null where there is none. */
export const costPrediction = z
  .object({
    estimatedTokens: z.number().int().nullable(),
    /** In the currency that agents report. */
    estimatedCost: z.number().nullable(),
    estimatedDurationMs: z.number().int().nullable(),
    confidence: predictionConfidence,
    /** How many tasks it follows from, and what they have in common with this one. */
    basedOn: z.object({ sampleSize: z.number().int(), sameIn: z.array(z.enum(['type', 'project', 'priority'])) }),
    predictedAt: timestamp,
  })
  .meta({ id: 'CostPrediction' });
export type CostPrediction = z.infer<typeof costPrediction>;

/** A prediction beside what its task cost in the end. */
export const predictionAccuracy = z
  .object({
    taskId,
    predictedCost: z.number(),
    actualCost: z.number(),
    /** Predicted less actual. */
    error: z.number(),
    /** 0 to 1: 1 less the error as a part of the larger of the two. */
    accuracy: z.number().min(0).max(1),
    confidence: predictionConfidence,
    predictedAt: timestamp,
  })
  .meta({ id: 'PredictionAccuracy' });
export type PredictionAccuracy = z.infer<typeof predictionAccuracy>;

export const predictionAccuracyQuery = z.strictObject(paging(50, 500)).meta({ id: 'PredictionAccuracyQuery' });

export const predictionStats = z
  .object({
    /** How many predictions are stored, and how many of their tasks are done. */
    predictions: z.number().int(),
    compared: z.number().int(),
    /** Null where nothing is compared. */
    meanAccuracy: z.number().nullable(),
    /** Above 0: predictions are too high. */
    meanError: z.number().nullable(),
  })
  .meta({ id: 'PredictionStats' });
export type PredictionStats = z.infer<typeof predictionStats>;
