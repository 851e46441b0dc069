import { z } from 'zod';
import { attemptId, revision, slug, taskId, text } from '../../common';
import { completionRequirement, goalBlockerFields, goalBudgets, goalContinuation, goalState } from './goal';

const sentences = (most: number, least = 0) => z.array(text(2_000, 1)).min(least).max(most);
const expectedRevision = revision;

/** A goal. Its root is a task: workflow runs have no goals, and a budget of idle time is refused. */
export const goalCreate = z
  .strictObject({
    objective: text(50_000, 1),
    constraints: sentences(200).default([]),
    acceptanceCriteria: sentences(200, 1),
    root: z.strictObject({ kind: z.literal('task'), taskId }),
    continuation: goalContinuation.prefault({}),
    budgets: goalBudgets.default({}),
    completionRequirements: z.array(completionRequirement).min(1).max(200),
  })
  .refine(({ completionRequirements: all }) => new Set(all.map(({ id }) => id)).size === all.length, {
    path: ['completionRequirements'],
    message: 'must have different ids',
  })
  .meta({ id: 'GoalCreate' });
export type GoalCreate = z.output<typeof goalCreate>;

/** Evidence of a requirement; who gives it is the caller, and when is now. */
const evidence = z.strictObject({ requirementId: slug, evidenceId: text(200, 1), summary: text(2_000, 1) });

export const goalTransitionRequest = z
  .strictObject({
    expectedRevision,
    state: goalState,
    reason: text(4_000, 8),
    blocker: z.strictObject(goalBlockerFields).optional(),
    completionEvidence: z.array(evidence).min(1).max(200).optional(),
  })
  .refine(({ state, blocker }) => (state === 'blocked') === (blocker !== undefined), {
    path: ['blocker'],
    message: 'is required for blocked, and for no other state',
  })
  .meta({ id: 'GoalTransitionRequest' });
export type GoalTransitionRequest = z.output<typeof goalTransitionRequest>;

/** A run of the task: the attempt that is named, or its latest. Whatever else is stated must be so. */
export const goalRunLink = z
  .strictObject({
    expectedRevision,
    taskId,
    attemptId: attemptId.optional(),
    workflowRunId: text(200, 1).optional(),
    conversationId: text(2_000, 1).optional(),
    parentAttemptId: attemptId.optional(),
  })
  .meta({ id: 'GoalRunLink' });
export type GoalRunLink = z.output<typeof goalRunLink>;

export const goalRollover = z.strictObject({ expectedRevision }).meta({ id: 'GoalRollover' });
