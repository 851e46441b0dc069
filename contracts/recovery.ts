import { z } from 'zod';
import { attemptId, taskId, timestamp } from './common';

/** `run-recovery/v1`: why an attempt is followed by another one, and where that stands. */
export const runRecovery = z
  .object({
    schemaVersion: z.literal('run-recovery/v1'),
    taskId,
    attemptId,
    rootAttemptId: attemptId,
    sequence: z.number().int().min(1),
    failureClass: z.enum(['transient-transport', 'unknown']),
    action: z.enum(['retry', 'terminal']),
    state: z.enum(['scheduled', 'launched', 'exhausted', 'cancelled']),
    reason: z.string(),
    retryNumber: z.number().int(),
    maxRetries: z.number().int(),
    backoffMs: z.number().int(),
    notBefore: timestamp,
    nextAttemptId: attemptId.optional(),
    createdAt: timestamp,
    updatedAt: timestamp,
    revision: z.number().int(),
  })
  .meta({ id: 'RunRecovery' });
export type RunRecovery = z.infer<typeof runRecovery>;
