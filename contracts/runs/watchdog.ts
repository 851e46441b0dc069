import { z } from 'zod';
import { attemptId, digest, taskId, text, timestamp } from '../common';
import { listPage, nextCursor } from '../query';

export const watchdogDetector = z.enum([
  'identical-repetition',
  'multi-step-cycle',
  'failed-file-edit',
  'no-durable-progress',
]);
export type WatchdogDetector = z.infer<typeof watchdogDetector>;

/** From the least to the most certain. */
export const watchdogConfidence = z.enum(['low', 'medium', 'high']);
export type WatchdogConfidence = z.infer<typeof watchdogConfidence>;

export const watchdogActionKind = z.enum([
  'warn',
  'steer',
  'require-observation',
  'retry',
  'fallback',
  'pause',
  'cancel',
]);
export type WatchdogActionKind = z.infer<typeof watchdogActionKind>;

/** What shows that a run progresses, and resets the watchdog. */
export const progressSignal = z.enum([
  'workspace-delta',
  'artifact',
  'verification-passed',
  'task-transition',
  'goal-transition',
  'external-evidence',
  'operator-input',
]);
export type ProgressSignal = z.infer<typeof progressSignal>;

export const findingId = z
  .string()
  .regex(/^watchdog_[0-9a-f]{8}(-[0-9a-f]{8}){3}$/, 'must look like watchdog_ and four groups of 8 hex digits')
  .meta({ id: 'WatchdogFindingId' });

const ofRun = { taskId, attemptId, turnId: z.string().nullable() };

/** `progress-watchdog-finding/v1`: a run that seems to go in circles, and what shows it. */
export const watchdogFinding = z
  .object({
    schemaVersion: z.literal('progress-watchdog-finding/v1'),
    id: findingId,
    ...ofRun,
    detector: watchdogDetector,
    confidence: watchdogConfidence,
    /** A sentence for a person; has nothing the agent wrote except paths and names of tools. */
    summary: z.string(),
    evidence: z.object({
      /** How often, or how many events; `threshold` is what the detector begins at. */
      observed: z.number(),
      threshold: z.number(),
      unit: z.enum(['repetitions', 'failures', 'events', 'tokens', 'usd']),
      /** First and last event of what was seen. */
      fromSequence: z.number().int(),
      toSequence: z.number().int(),
      /** Digest of what repeats: the same for the same behaviour. */
      fingerprint: digest,
      /** Number of different steps in the repeated cycle. */
      cycleLength: z.number().int().optional(),
      path: z.string().optional(),
      elapsedMs: z.number().optional(),
      tokens: z.number().optional(),
      costUsd: z.number().optional(),
    }),
    recommendedAction: watchdogActionKind,
    createdAt: timestamp,
  })
  .meta({ id: 'WatchdogFinding' });
export type WatchdogFinding = z.infer<typeof watchdogFinding>;

/** `progress-watchdog-action/v1`: what was done about a finding, or why nothing was. */
export const watchdogAction = z
  .object({
    schemaVersion: z.literal('progress-watchdog-action/v1'),
    id: z.string(),
    findingId,
    ...ofRun,
    action: watchdogActionKind,
    source: z.literal('automated'),
    /** `requested`: not carried out (yet); `suppressed`: the run has had as many as it may. */
    state: z.enum(['requested', 'completed', 'suppressed']),
    reason: z.string().optional(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'WatchdogAction' });
export type WatchdogAction = z.infer<typeof watchdogAction>;

export const watchdogResolution = z.enum(['acknowledge', 'continue', 'cancel']);
export type WatchdogResolution = z.infer<typeof watchdogResolution>;

/** `progress-watchdog-override/v1`: what a person decided about a finding, once. */
export const watchdogOverride = z
  .object({
    schemaVersion: z.literal('progress-watchdog-override/v1'),
    findingId,
    taskId,
    attemptId,
    resolution: watchdogResolution,
    reason: z.string(),
    actor: z.string(),
    state: z.enum(['requested', 'completed']),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'WatchdogOverride' });
export type WatchdogOverride = z.infer<typeof watchdogOverride>;

/** `GET /api/agents/:taskId/watchdog`: the oldest first. */
export const watchdogInspection = z
  .object({
    taskId,
    attemptId,
    findings: z.array(watchdogFinding),
    actions: z.array(watchdogAction),
    overrides: z.array(watchdogOverride),
    nextCursor,
  })
  .meta({ id: 'WatchdogInspection' });

export const watchdogQuery = z.strictObject({ attemptId, ...listPage(100, 500) }).meta({ id: 'WatchdogQuery' });

export const watchdogOverrideRequest = z
  .strictObject({ attemptId, resolution: watchdogResolution, reason: text(2_000, 1) })
  .meta({ id: 'WatchdogOverrideRequest' });
