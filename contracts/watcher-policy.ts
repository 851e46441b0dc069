import { z } from 'zod';
import { slug, taskId, text, timestamp } from './common';
import { watcherMode, watcherSettings as settings } from './settings';

/** What may speak against going on with a run by itself. */
export const watcherRisk = z.enum([
  'destructive_command',
  'credential_reference',
  'recent_test_failure',
  'provider_error',
  'policy_violation',
]);
export type WatcherRisk = z.infer<typeof watcherRisk>;

/** The settings, and the risks that are looked for. */
export const watcherPolicy = z
  .object({ ...settings.shape, riskClasses: z.array(watcherRisk) })
  .meta({ id: 'WatcherPolicy' });

/** A run that somebody would go on with by itself. The prompt is looked at and never kept. */
export const watcherQuestion = z
  .strictObject({
    runId: slug,
    taskId: taskId.optional(),
    project: text(200, 1).optional(),
    agent: slug.optional(),
    prompt: z.string().max(100_000).default(''),
    /** How often the run was gone on with already. */
    continuationCount: z.number().int().min(0).max(1_000_000).default(0),
    monthlySpendUsd: z.number().min(0).max(1_000_000_000).default(0),
    hasRecentTestFailures: z.boolean().default(false),
    recentProviderErrors: z.number().int().min(0).max(1_000_000).default(0),
  })
  .meta({ id: 'WatcherQuestion' });
export type WatcherQuestion = z.output<typeof watcherQuestion>;

export const watcherAnswer = z
  .object({
    decision: z.enum(['allow', 'approval', 'blocked']),
    mode: watcherMode,
    riskLevel: z.enum(['low', 'medium', 'high']),
    riskClasses: z.array(watcherRisk),
    reasons: z.array(z.string()),
    /** What the risks were seen by; never words of the prompt. */
    evidence: z.array(z.string()),
    caps: z.object({ maxContinuations: z.number().int(), spendCapUsd: z.number() }),
    auditLogged: z.literal(true),
    evaluatedAt: timestamp,
    traceId: z.string(),
  })
  .meta({ id: 'WatcherAnswer' });
export type WatcherAnswer = z.infer<typeof watcherAnswer>;
