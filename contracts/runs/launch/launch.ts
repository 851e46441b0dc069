import { z } from 'zod';
import { attemptId, commitPolicy, phase, replayed, slug, taskId, text, timestamp } from '../../common';
import type { Refusal } from '../../refusal';
import { capabilityId } from '../../settings/profile';
import { issuedCallback } from '../callback-secret';

/** 8 to 240 printable characters; only their SHA-256 is stored (specification 2, Admission 5). */
export const idempotencyKey = z
  .string()
  .min(8)
  .max(240)
  .regex(/^[\x21-\x7e]+$/, 'printable ASCII without spaces');

/** The body of `start` and `launch-preview`. */
export const launchRequest = z
  .strictObject({
    agent: slug.optional(),
    profileId: slug.optional(),
    sandboxPresetId: slug.optional(),
    phase: phase.optional(),
    requiredRuntimeCapabilities: z.array(capabilityId).max(64).optional(),
    commitPolicy: commitPolicy.optional(),
    /** Of the sessions of an `acp` agent, instead of its profile's and its own; one that it offers. */
    model: text(200, 1).optional(),
    mode: text(200, 1).optional(),
    parentAttemptId: attemptId.optional(),
    idempotencyKey: idempotencyKey.optional(),
  })
  .meta({ id: 'LaunchRequest' });
export type LaunchRequest = z.infer<typeof launchRequest>;

/** What is launched for a step of a workflow run. */
export const workflowStepLaunch = launchRequest
  .omit({ parentAttemptId: true })
  .extend({
    taskId,
    /** The reservation of a launch for the same run, whose execution tree this one joins; absent for a root. */
    rootReservationId: attemptId.optional(),
  })
  .meta({ id: 'WorkflowStepLaunch' });
export type WorkflowStepLaunch = z.infer<typeof workflowStepLaunch>;

/** What rules warn of in a launch that they let through. */
export const ruleWarnings = z.array(z.string()).optional();

const started = z.object({
  taskId,
  attemptId,
  agent: slug,
  provider: z.string(),
  status: z.literal('running'),
  startedAt: timestamp,
  providerRuntimeManifestDigest: z.string(),
  runLaunchManifestDigest: z.string(),
  /** Only for a remote agent, and only in the response to its launch. */
  callback: issuedCallback.optional(),
  warnings: ruleWarnings,
  replayed,
});

const queued = z.object({
  taskId,
  attemptId,
  queueId: z.string(),
  agent: slug,
  status: z.literal('queued'),
  enqueuedAt: timestamp,
  retryAfterMs: z.number().int(),
  limitingScopes: z.array(z.object({ scope: z.string(), scopeId: z.string() })),
  callback: issuedCallback.optional(),
  warnings: ruleWarnings,
  replayed,
});

/** The response to an accepted start: running with its contract stored, or durably queued. */
export const launchResponse = z.discriminatedUnion('status', [started, queued]).meta({ id: 'LaunchAnswer' });
export type LaunchResponse = z.infer<typeof launchResponse>;

export type LaunchOutcome = LaunchResponse | Refusal;
