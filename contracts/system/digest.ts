import { z } from 'zod';
import { slug, taskId, timestamp } from '../common';
import { period, periodFields } from '../period';
import { runMetrics, tokenMetrics } from './metrics';

const count = z.number().int().min(0);
const format = z.enum(['json', 'markdown', 'teams']).default('json');

export const dailyDigestQuery = z.strictObject({ format });
const operationsScope = {
  /** 24 when neither it nor a bound is stated. */
  hours: z.coerce.number().int().min(1).max(8_760).optional(),
  from: periodFields.from,
  to: periodFields.to,
  tz: periodFields.tz,
  project: z.string().min(1).max(200).optional(),
  /** Of tasks whose code is in this repository. */
  repo: slug.optional(),
  /** Of tasks whose worktree is this directory, or is in it. */
  cwd: z.string().min(1).max(4_096).optional(),
};
export const operationsDigestQuery = z.strictObject({ ...operationsScope, format });
export const operationsPreviewQuery = z.strictObject(operationsScope);
export type OperationsScope = z.output<typeof operationsPreviewQuery>;

/** The most titles and failed runs of one list of a digest. */
export const maxListed = 20;

export const digest = z
  .object({
    period,
    /** Whether anything was created, completed or run in the period. */
    hasActivity: z.boolean(),
    tasks: z.object({
      completed: count,
      created: count,
      /** As it is now; so are those that are blocked, and the total. */
      inProgress: count,
      blocked: count,
      total: count,
      completedTitles: z.array(z.string()),
      blockedTitles: z.array(z.string()),
    }),
    runs: runMetrics
      .pick({ successes: true, failures: true, errors: true, successRate: true, byAgent: true, coverage: true })
      .extend({ total: count }),
    tokens: tokenMetrics.pick({
      inputTokens: true,
      outputTokens: true,
      cacheTokens: true,
      totalTokens: true,
      cost: true,
    }),
    issues: z.object({
      failedRuns: z.array(
        z.object({ taskId, title: z.string().optional(), agent: slug, timestamp, error: z.string().optional() }),
      ),
    }),
  })
  .meta({ id: 'Digest' });
export type Digest = z.infer<typeof digest>;

/** A message for a webhook of Microsoft Teams, with one Adaptive Card. */
export const teamsMessage = z
  .object({
    type: z.literal('message'),
    attachments: z.array(
      z.object({
        contentType: z.literal('application/vnd.microsoft.card.adaptive'),
        contentUrl: z.null(),
        content: z.record(z.string(), z.unknown()),
      }),
    ),
  })
  .meta({ id: 'TeamsMessage' });
export type TeamsMessage = z.infer<typeof teamsMessage>;
