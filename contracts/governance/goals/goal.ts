import { z } from 'zod';
import { attemptId, revision, slug, taskId, text, timestamp } from '../../common';
import { listPage, nextCursor } from '../../query';

export const goalId = z
  .string()
  .regex(/^goal_[A-Za-z0-9]{12}$/, 'must look like goal_0123456789ab')
  .meta({ id: 'GoalId' });

/** The first six may change to any other state; the last three are final. */
export const goalState = z.enum([
  'active',
  'paused',
  'blocked',
  'awaiting-approval',
  'usage-limited',
  'budget-limited',
  'complete',
  'cancelled',
  'failed',
]);
export type GoalState = z.infer<typeof goalState>;

/** What the runs of a goal have used. Each amount can be a budget too. */
export const goalAmounts = {
  inputTokens: z.number().int().min(0),
  outputTokens: z.number().int().min(0),
  totalTokens: z.number().int().min(0),
  costUsd: z.number().min(0),
  toolCalls: z.number().int().min(0),
  runtimeSeconds: z.number().min(0),
  retries: z.number().int().min(0),
  /** Runs that agents launched as children. */
  fanOut: z.number().int().min(0),
};
export const goalUsage = z.object(goalAmounts);
export type GoalUsage = z.infer<typeof goalUsage>;

const budgetOf = (most: number) => z.number().positive().max(most).optional();
const countOf = (most: number) => z.number().int().min(1).max(most).optional();

/** Reaching one ends the automatic runs of a goal. Idle time is measured nowhere, and so is no budget. */
export const goalBudgets = z.strictObject({
  inputTokens: countOf(1e12),
  outputTokens: countOf(1e12),
  totalTokens: countOf(1e12),
  costUsd: budgetOf(1e9),
  toolCalls: countOf(1e9),
  runtimeSeconds: budgetOf(1e9),
  retries: countOf(1e6),
  fanOut: countOf(1e6),
});
export type GoalBudgets = z.infer<typeof goalBudgets>;

/** How a goal continues when a run of it has ended without completing it. */
export const goalContinuation = z.strictObject({
  mode: z.enum(['manual', 'automatic']).default('manual'),
  /** Automatic runs, however they begin. */
  maxTurns: z.number().int().min(0).max(1_000).default(10),
  /** Runs that begin a fresh conversation, also those that a person requests. */
  maxRollovers: z.number().int().min(0).max(100).default(3),
  /** Tokens of one conversation, after which the next run begins a fresh one. */
  compactAfterTokens: z.number().int().min(1).max(1e12).optional(),
  requireApprovalForRollover: z.boolean().default(false),
});
export type GoalContinuation = z.output<typeof goalContinuation>;

/** The evidence of `test`, `build` and `artifact` may come from runs; that of the others comes from people. */
export const verificationKind = z.enum(['test', 'build', 'artifact', 'operator', 'external', 'other']);

export const completionRequirement = z.strictObject({
  /** What a run calls it: the `gateId` of its verification, or the id or name of its artifact. */
  id: slug,
  description: text(2_000, 1),
  required: z.boolean().default(true),
  verificationKind,
});
export type CompletionRequirement = z.output<typeof completionRequirement>;

const completionEvidence = z.object({
  requirementId: slug,
  evidenceId: z.string(),
  summary: z.string(),
  /** Who gave it: a caller, or `run:<attemptId>`. */
  verifier: z.string(),
  verifiedAt: timestamp,
});
export type CompletionEvidence = z.infer<typeof completionEvidence>;

/** Why a goal is blocked, as its author states it. */
export const goalBlockerFields = {
  code: slug,
  summary: text(2_000, 1),
  /** How often it was tried. */
  attempts: z.number().int().min(0).max(1_000_000).default(1),
  nextSafeAction: text(2_000, 1),
  requiredAuthority: text(200, 1).optional(),
  /** What has to change elsewhere before it can go on. */
  externalStateChange: text(2_000, 1).optional(),
};
const goalBlocker = z.object({ id: z.string(), ...goalBlockerFields, recordedAt: timestamp });
export type GoalBlocker = z.infer<typeof goalBlocker>;

/**
 * How a run came to belong to a goal: linked by a caller, a continuation of it, or by its place below a run that does: a retry or
 * fallback, what continues it otherwise, or what its agent launched.
 */
export const goalRunKind = z.enum(['linked', 'resume', 'rollover', 'retry', 'follow-up', 'child']);
export type GoalRunKind = z.infer<typeof goalRunKind>;

/** A run of a goal; `status` and `endedAt` once it has ended and is counted. */
const goalRun = z.object({
  taskId,
  attemptId,
  kind: goalRunKind,
  workflowRunId: z.string().optional(),
  conversationId: z.string().optional(),
  parentAttemptId: attemptId.optional(),
  linkedAt: timestamp,
  status: z.string().optional(),
  endedAt: timestamp.optional(),
});
export type GoalRun = z.infer<typeof goalRun>;

const continuationAttempt = z.object({
  id: z.string(),
  kind: z.enum(['resume', 'rollover']),
  state: z.enum(['planned', 'dispatched', 'failed']),
  /** The run that is continued, and the one that continues it. */
  sourceAttemptId: attemptId,
  attemptId,
  /** The person in whose name it is launched; absent when the watcher policy is asked instead. */
  requestedBy: z.string().optional(),
  plannedAt: timestamp,
  settledAt: timestamp.optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});
export type ContinuationAttempt = z.infer<typeof continuationAttempt>;

const goalTransition = z.object({
  from: goalState,
  to: goalState,
  reason: z.string(),
  actor: z.string(),
  at: timestamp,
  blockerId: z.string().optional(),
});

/** `durable-goal/v1`: an objective that outlives its runs. */
export const goal = z
  .object({
    schemaVersion: z.literal('durable-goal/v1'),
    id: goalId,
    workspaceId: z.string(),
    objective: z.string(),
    constraints: z.array(z.string()),
    acceptanceCriteria: z.array(z.string()),
    root: z.object({ kind: z.literal('task'), taskId }),
    state: goalState,
    revision,
    continuation: z.object(goalContinuation.shape),
    budgets: z.object(goalBudgets.shape),
    usage: goalUsage,
    /** One for each run that has ended. */
    usageEvents: z.array(goalUsage.extend({ attemptId, at: timestamp })),
    currentRun: goalRun.nullable(),
    continuationChain: z.array(goalRun),
    continuationAttempts: z.array(continuationAttempt),
    /** What a continuation waits for while the state is `awaiting-approval`. */
    awaiting: z.object({ code: z.string(), kind: z.enum(['resume', 'rollover']) }).nullable(),
    blockers: z.array(goalBlocker),
    completionRequirements: z.array(z.object(completionRequirement.shape)),
    completionEvidence: z.array(completionEvidence),
    transitions: z.array(goalTransition),
    /** Why it is `complete`, `cancelled` or `failed`. */
    terminalReason: z.string().nullable(),
    createdBy: z.string(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Goal' });
export type Goal = z.infer<typeof goal>;

/** States, separated by commas or repeated. */
const states = z
  .union([z.string().max(400), z.array(z.string().max(400)).max(20)])
  .transform((value) => [value].flat().flatMap((list) => list.split(',').map((state) => state.trim())))
  .pipe(z.array(goalState).min(1).max(20));

export const goalQuery = z
  .strictObject({ state: states.optional(), rootTaskId: taskId.optional(), ...listPage(100, 1_000) })
  .meta({ id: 'GoalQuery' });
export type GoalQuery = z.output<typeof goalQuery>;

export const goalList = z.object({ generatedAt: timestamp, goals: z.array(goal), nextCursor }).meta({ id: 'GoalList' });
