import { z } from 'zod';
import { clearable, revision, slug, taskId, text, timestamp } from '../common';
import { listPage, paging } from '../query';

/** Specification 1, Enumerations. */
export const errorType = z.enum([
  'runtime',
  'api',
  'validation',
  'timeout',
  'permission',
  'resource',
  'model',
  'git',
  'build',
  'test',
  'configuration',
  'unknown',
]);
export type ErrorType = z.infer<typeof errorType>;

/** From the least to the most severe (specification 1, Enumerations). */
export const severity = z.enum(['low', 'medium', 'high', 'critical']);
export type Severity = z.infer<typeof severity>;

export const errorAnalysisId = z
  .string()
  .regex(/^error_[0-9a-f]{12}$/, 'must look like error_0123456789ab')
  .meta({ id: 'ErrorAnalysisId' });

const rootCause = text(5_000);
const chosenFix = text(5_000);
const preventionSteps = z.array(text(1_000, 1)).max(50);
const tags = z.array(text(50, 1)).max(50);

/** An error that work ended in, and its analysis (gaps 4.18). Times that a caller omits are the service's. */
export const errorAnalysis = z
  .object({
    id: errorAnalysisId,
    context: z.object({
      taskId: taskId.optional(),
      agent: slug.optional(),
      errorMessage: z.string(),
      errorType,
      rawDetails: z.string().optional(),
      attemptDescription: z.string().optional(),
      occurredAt: timestamp,
    }),
    /** The first line of the message. */
    summary: z.string(),
    /** Guessed by rules until a caller corrects it. */
    rootCause: z.string(),
    severity,
    optionsConsidered: z.array(
      z.object({ option: z.string(), pros: z.array(z.string()), cons: z.array(z.string()), chosen: z.boolean() }),
    ),
    chosenFix: z.string().optional(),
    preventionSteps: z.array(z.string()),
    tags: z.array(z.string()),
    /** Other tasks that ended in the same error. */
    relatedTasks: z.array(taskId),
    /** Whether the same error was submitted before. */
    isRepeat: z.boolean(),
    /** How often it was. */
    previousOccurrences: z.number().int().min(0),
    /** The same for messages that differ in numbers, ids and folders only. */
    fingerprint: z.string(),
    revision,
    analyzedAt: timestamp,
  })
  .meta({ id: 'ErrorAnalysis' });
export type ErrorAnalysis = z.infer<typeof errorAnalysis>;

/** `errorType` is guessed from the message when absent. */
export const errorSubmission = z
  .strictObject({
    taskId: taskId.optional(),
    agent: slug.optional(),
    errorMessage: text(10_000, 1),
    errorType: errorType.optional(),
    rawDetails: text(50_000).optional(),
    attemptDescription: text(5_000).optional(),
  })
  .meta({ id: 'ErrorSubmission' });
export type ErrorSubmission = z.infer<typeof errorSubmission>;

export const errorAnalysisPatch = z
  .strictObject({
    rootCause: rootCause.optional(),
    severity: severity.optional(),
    chosenFix: clearable(chosenFix),
    preventionSteps: preventionSteps.optional(),
    tags: tags.optional(),
  })
  .meta({ id: 'ErrorAnalysisPatch' });
export type ErrorAnalysisPatch = z.infer<typeof errorAnalysisPatch>;

export const errorAnalysisQuery = z
  .strictObject({
    taskId: taskId.optional(),
    errorType: errorType.optional(),
    severity: severity.optional(),
    agent: slug.optional(),
    ...paging(50, 200),
  })
  .meta({ id: 'ErrorAnalysisQuery' });
export type ErrorAnalysisQuery = z.output<typeof errorAnalysisQuery>;

/** `q` is looked for whatever its case. */
export const errorSearchQuery = z
  .strictObject({ q: text(200, 1), ...listPage(20, 200) })
  .meta({ id: 'ErrorSearchQuery' });

const count = z.number().int();

export const errorStats = z
  .object({
    total: count,
    byType: z.record(z.string(), count),
    bySeverity: z.record(z.string(), count),
    /** How many of them had been there before. */
    repeats: count,
  })
  .meta({ id: 'ErrorStats' });
export type ErrorStats = z.infer<typeof errorStats>;
