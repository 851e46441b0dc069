import { z } from 'zod';
import { attemptId, taskId, timestamp } from './common';

/**
 * Shapes of the reply profile for existing clients. Each states the names that such a client reads; the fields of the default
 * shape are there as well, so that all of them are loose.
 */

/** The prefix under which the whole API is served in this profile. */
export const compatPrefix = '/compat';

const compatTime = { created: timestamp, updated: timestamp };

export const compatTask = z.looseObject({
  id: taskId,
  title: z.string(),
  status: z.string(),
  revision: z.number().int(),
  ...compatTime,
  git: z
    .looseObject({
      worktreePath: z.string().optional(),
      worktreeManifestId: z.string().optional(),
      worktreeBaseCommit: z.string().optional(),
      worktreeBaseSource: z.string().optional(),
      worktreeLeaseId: z.string().optional(),
      worktreeLeaseOwnerAttemptId: attemptId.optional(),
    })
    .optional(),
});

/** `view=summary`: what a list shows of a task. */
export const compatTaskSummary = z.strictObject({
  id: taskId,
  title: z.string(),
  status: z.string(),
  priority: z.string(),
  type: z.string(),
  project: z.string().optional(),
  sprint: z.string().optional(),
  ...compatTime,
  subtasks: z.array(z.unknown()),
  verificationSteps: z.array(z.unknown()),
  blockedBy: z.array(z.string()).optional(),
  blockedReason: z.unknown().optional(),
  position: z.number().optional(),
  attachmentCount: z.number().int(),
  deliverableCount: z.number().int(),
  github: z.unknown().optional(),
  timeTracking: z.strictObject({ totalSeconds: z.number(), isRunning: z.boolean() }).optional(),
  attempt: z.unknown().optional(),
});

/** `fields=a,b`: the fields that were named, and always the id. */
export const compatTaskFields = z.looseObject({ id: taskId });

export const compatTaskQuery = z.strictObject({
  view: z.enum(['full', 'summary']).optional(),
  fields: z
    .string()
    .max(1_000)
    .regex(/^[A-Za-z]\w*(?:,[A-Za-z]\w*)*$/, 'must be names separated by commas')
    .transform((names) => names.split(','))
    .optional(),
});

/** `unsent` is another name of `undelivered`. */
export const compatNotificationQuery = z.strictObject({ unsent: z.enum(['true', 'false']).optional() });

export const compatAttemptStatus = z.enum(['pending', 'running', 'complete', 'failed']);

export const compatAttempt = z.looseObject({
  id: attemptId,
  status: compatAttemptStatus,
  started: timestamp.optional(),
  ended: timestamp.optional(),
});

export const compatRunStatus = z.looseObject({
  taskId,
  running: z.boolean(),
  status: compatAttemptStatus.nullable(),
  attempt: compatAttempt.nullable(),
});

export const compatAgent = z.looseObject({
  type: z.string(),
  name: z.string(),
  command: z.string(),
  args: z.array(z.string()),
  enabled: z.boolean(),
  supportProfile: z.string(),
});

export const compatRecovery = z.looseObject({
  rootRunId: attemptId,
  parentRunId: attemptId,
  fallbackUsed: z.boolean(),
  failure: z.strictObject({
    classification: z.string(),
    summary: z.string(),
    retryable: z.boolean(),
    approvalRequired: z.boolean(),
    destructiveSideEffects: z.boolean(),
  }),
  scheduledAt: timestamp,
  launchedRunId: attemptId.optional(),
  cancelledAt: timestamp.optional(),
  selectedAgent: z.string().optional(),
  routingDecision: z.string().optional(),
  sourceManifestDigest: z.string().optional(),
  cumulativeBudget: z.unknown().optional(),
  handoff: z.strictObject({ summary: z.string(), nextActions: z.array(z.string()) }).optional(),
});

export const compatPhaseEvidence = z.looseObject({
  identity: z.strictObject({ mode: z.enum(['profile', 'legacy']), phase: z.string() }),
  effectiveAuthority: z.record(z.string(), z.array(z.string())),
  enforcement: z.record(z.string(), z.string()),
  approvalRequiredDimensions: z.array(z.string()),
});

export const compatPhaseTransition = z.looseObject({
  effectiveEvidence: compatPhaseEvidence,
  policyDecision: z.enum(['allow', 'approved-expansion', 'emergency-override', 'override-expired']),
  createdAt: timestamp,
});

export const compatPhaseSnapshot = z.looseObject({
  effectiveEvidence: compatPhaseEvidence,
  transitionSequence: z.number().int(),
  history: z.array(compatPhaseTransition),
});

export const compatPhaseAnswer = z.looseObject({
  status: z.enum(['applied', 'approval-required']),
  current: compatPhaseTransition.nullable(),
  targetEvidenceDigest: z.string(),
});

export const compatCapacity = z.looseObject({
  runSlots: z.number(),
  processSlots: z.number(),
  estimatedMemoryMb: z.number(),
});

export const compatReservation = z.looseObject({
  id: z.string(),
  attemptId,
  request: z.looseObject({
    requested: compatCapacity,
    workflowRunId: z.string().optional(),
    workflowStepId: z.string().optional(),
    rootReservationId: z.string().optional(),
    executionTree: z.looseObject({ rootObjectiveId: z.string(), nodeId: z.string() }),
  }),
});

export const compatQueueEntry = z.looseObject({
  id: z.string(),
  state: z.string(),
  position: z.number().int().optional(),
  rawPriority: z.number().int(),
  effectivePriority: z.number().int(),
  agePromotion: z.number().int(),
  lease: z.strictObject({ posture: z.enum(['none', 'active', 'dispatched', 'terminal']) }),
  launch: z.looseObject({ source: z.string(), target: z.string(), workspaceId: z.string(), provider: z.string() }),
  navigation: z.looseObject({ taskId: z.string(), attemptId }),
  retry: z.strictObject({ count: z.number().int(), availableAt: timestamp }),
  conditionalStartFactors: z.array(z.string()),
});

export const compatTree = z.looseObject({
  committed: compatCapacity,
  reserved: compatCapacity,
  control: z.looseObject({ recordedAt: timestamp }).optional(),
});
