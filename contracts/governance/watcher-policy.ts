import { z } from 'zod';
import { slug, taskId, text, timestamp } from '../common';
import { watcherMode, watcherSettings as settings } from '../settings/settings';

/** The risks of continuing a run without a person. */
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

/** A run to be continued without a person. The prompt is evaluated and never stored. */
export const watcherQuestion = z
  .strictObject({
    runId: slug,
    taskId: taskId.optional(),
    project: text(200, 1).optional(),
    agent: slug.optional(),
    prompt: z.string().max(100_000).default(''),
    /** How often the run was continued already. */
    continuationCount: z.number().int().min(0).max(1_000_000).default(0),
    monthlySpendUsd: z.number().min(0).max(1_000_000_000).default(0),
    hasRecentTestFailures: z.boolean().default(false),
    recentProviderErrors: z.number().int().min(0).max(1_000_000).default(0),
  })
  .meta({ id: 'WatcherQuestion' });
export type WatcherQuestion = z.output<typeof watcherQuestion>;

export const watcherResponse = z
  .object({
    decision: z.enum(['allow', 'approval', 'blocked']),
    mode: watcherMode,
    riskLevel: z.enum(['low', 'medium', 'high']),
    riskClasses: z.array(watcherRisk),
    reasons: z.array(z.string()),
    /** The evidence for the risks; never text of the prompt. */
    evidence: z.array(z.string()),
    caps: z.object({ maxContinuations: z.number().int(), spendCapUsd: z.number() }),
    auditLogged: z.literal(true),
    evaluatedAt: timestamp,
    traceId: z.string(),
  })
  .meta({ id: 'WatcherAnswer' });
export type WatcherResponse = z.infer<typeof watcherResponse>;
