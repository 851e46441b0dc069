import { z } from 'zod';
import { attemptId, digest, slug, taskId, text, timestamp } from '../common';
import { listPage, nextCursor } from '../query';
import { workflowBinding } from './admission';

/** Why an attempt ended without its objective. */
export const failureClass = z.enum([
  'transient-transport',
  'provider-unavailable',
  'rate-limit',
  'invalid-request',
  'task-failure',
  'verification-failure',
  'policy-block',
  'cancellation',
  'timeout',
  'partial-side-effect',
  'unknown',
]);
export type FailureClass = z.infer<typeof failureClass>;

/** What a person has to review before anything continues. */
export const operatorHandoff = z.object({
  reason: z.string(),
  sideEffects: z.array(z.string()),
  nextSafeAction: z.string(),
});

/** What the attempts of one chain have used so far. */
export const recoveryBudget = z.object({
  attempts: z.number().int(),
  maxAttempts: z.number().int(),
  /** From the first attempt's creation to the latest one's end. */
  elapsedMs: z.number().int(),
});

/** `run-recovery/v1`: why an attempt failed, what follows it, and its state. */
export const runRecovery = z
  .object({
    schemaVersion: z.literal('run-recovery/v1'),
    taskId,
    /** The attempt that failed: the parent of the one that follows. */
    attemptId,
    rootAttemptId: attemptId,
    /** The step of a workflow run that the chain was launched for. */
    workflow: workflowBinding.optional(),
    /** Position in the chain, from 1. */
    sequence: z.number().int().min(1),
    failureClass,
    action: z.enum(['retry', 'fallback', 'approval', 'terminal', 'cancelled']),
    state: z.enum(['scheduled', 'launching', 'launched', 'approval-required', 'exhausted', 'cancelled']),
    reason: z.string(),
    retryNumber: z.number().int(),
    maxRetries: z.number().int(),
    backoffMs: z.number().int(),
    notBefore: timestamp,
    /** The agent that continues; absent in records from before agents could be changed. */
    route: z.object({ agent: slug, reason: z.string() }).optional(),
    manifestDigests: z.object({ providerRuntime: digest.nullable(), runLaunch: digest.nullable() }).optional(),
    budget: recoveryBudget.optional(),
    operatorHandoff: operatorHandoff.optional(),
    nextAttemptId: attemptId.optional(),
    /** Why the attempt that was to follow was not launched; then nothing follows any more, and the task is free. */
    refusal: z.object({ code: z.string(), message: z.string(), at: timestamp }).optional(),
    cancelledBy: z.string().optional(),
    createdAt: timestamp,
    updatedAt: timestamp,
    revision: z.number().int(),
  })
  .meta({ id: 'RunRecovery' });
export type RunRecovery = z.infer<typeof runRecovery>;

export const recoveryQuery = z.strictObject(listPage(100, 1000));
export const recoveryList = z.object({ recoveries: z.array(runRecovery), nextCursor }).meta({ id: 'RunRecoveryList' });

/** The body of a cancellation: exactly the attempt that failed, so that a stale page cancels nothing else. */
export const recoveryCancel = z.strictObject({ attemptId }).meta({ id: 'RecoveryCancel' });

/**
 * The body of a cancellation for a step of a workflow run. `parentRunId` is the attempt that failed, which is the parent of the
 * one that follows; any other value is from an outdated page.
 */
export const workflowRecoveryCancel = z
  .strictObject({ stepId: text(200, 1), parentRunId: text(200, 1) })
  .meta({ id: 'WorkflowRecoveryCancel' });
