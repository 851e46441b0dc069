import { z } from 'zod';
import { attemptId, objectName, taskId, text, timestamp } from '../common';
import { lineCommentSend } from './line-comment';

/** What becomes of the result of a successful run that needs a review before its task is done. */
export const reviewState = z.enum(['pending', 'accepting', 'awaiting-merge', 'accepted', 'sent-back', 'superseded']);
export type ReviewState = z.infer<typeof reviewState>;

/**
 * How an accepted result reaches its base branch; `pull-request`: by a pull request that is merged at the forge; `none`: it was
 * brought there in another way, or is not wanted there.
 */
export const reviewDelivery = z.enum(['merge', 'pull-request', 'none']);
export type ReviewDelivery = z.infer<typeof reviewDelivery>;

/** What an acceptance does that names no delivery. */
export const defaultReviewDelivery = reviewDelivery.exclude(['none']);

/** The pull request that an accepted result is delivered by. */
const reviewPullRequest = z.object({
  number: z.number().int().min(1),
  url: z.string().max(2_000),
  /** The branch that it is to be merged into. */
  baseBranch: z.string().max(500),
});

/** Why an acceptance came to nothing, with what to do. */
const reviewProblem = z.object({ code: z.string(), message: z.string(), at: timestamp });

/**
 * The review of the latest successful run, as the task shows it. Only decisions set it; loose, because a task's file may have a
 * review of another system.
 */
export const taskReview = z
  .looseObject({
    state: reviewState.optional(),
    /** The attempt whose result is reviewed. */
    attemptId: attemptId.optional(),
    requestedAt: timestamp.optional(),
    /** The acceptance that is under way. */
    decisionId: z.string().max(64).optional(),
    decision: z.enum(['approved', 'changes-requested', 'rejected']).optional(),
    decidedAt: z.string().max(64).optional(),
    decidedBy: z.string().max(200).optional(),
    delivery: reviewDelivery.optional(),
    pullRequest: reviewPullRequest.optional(),
    /** The text of the reviewer. */
    summary: z.string().max(20_000).optional(),
    /** The attempt that follows the one that was sent back. */
    followUpAttemptId: attemptId.optional(),
    problem: reviewProblem.optional(),
  })
  .meta({ id: 'TaskReview' });
export type TaskReview = z.infer<typeof taskReview>;

/** A decision about the result of a run. */
export const reviewDecision = z
  .object({
    id: z.string(),
    taskId,
    attemptId,
    /** `returned`: accepted, but the result was not delivered or the task not completed; the review is open again. */
    outcome: z.enum(['accepted', 'returned', 'sent-back']),
    by: z.string(),
    at: timestamp,
    summary: z.string().optional(),
    delivery: reviewDelivery.optional(),
    /** The merge commit. */
    mergedSha: objectName.optional(),
    pullRequest: reviewPullRequest.optional(),
    followUpAttemptId: attemptId.optional(),
    problem: reviewProblem.omit({ at: true }).optional(),
  })
  .meta({ id: 'ReviewDecision' });
export type ReviewDecision = z.infer<typeof reviewDecision>;

/** The decisions of a task that are answered, the newest ones. */
export const maxReviewDecisions = 100;

export const reviewStatus = z
  .object({
    taskId,
    /** Whether a successful run of the task needs a review now. */
    required: z.boolean(),
    /** How an acceptance delivers the result that names no delivery. */
    delivery: defaultReviewDelivery,
    /** Absent until a run needed one. */
    review: taskReview.optional(),
    /** The newest first. */
    decisions: z.array(reviewDecision).max(maxReviewDecisions),
  })
  .meta({ id: 'ReviewStatus' });
export type ReviewStatus = z.infer<typeof reviewStatus>;

/**
 * `attemptId` is the attempt that was looked at, `expectedHead` the HEAD of its worktree; without `delivery` the task's or that
 * of the settings.
 */
export const reviewAcceptance = z
  .strictObject({
    attemptId,
    delivery: reviewDelivery.optional(),
    expectedHead: objectName.optional(),
    summary: text(2_000, 1).optional(),
  })
  .refine(({ delivery, expectedHead }) => delivery !== 'none' || expectedHead === undefined, {
    path: ['expectedHead'],
    message: 'only a delivery compares it',
  })
  .meta({ id: 'ReviewAcceptance' });
export type ReviewAcceptance = z.output<typeof reviewAcceptance>;

/** An acceptance as the API has it from the actor. */
export interface AcceptedReview extends ReviewAcceptance {
  /** Of this decision: repeated, it is the same one. */
  decisionId: string;
  taskId: string;
  actor: string;
  delivery: ReviewDelivery;
  /** Whether the actor may merge into any branch. */
  anyBranch?: true;
}

/** What the agent is to change: a message, open comments on lines, or both; all open ones unless they are named. */
export const reviewSendBack = lineCommentSend
  .omit({ sourceAttemptId: true })
  .extend({ attemptId })
  .meta({ id: 'ReviewSendBack' });
export type ReviewSendBack = z.output<typeof reviewSendBack>;
