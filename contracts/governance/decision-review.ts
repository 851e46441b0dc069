import { z } from 'zod';
import { revision, slug, taskId, text, timestamp } from '../common';
import { listPage } from '../query';
import { decisionId } from './decision';

/** What one review may hold at most; a round is a response and a critique of each participant. */
export const reviewLimits = { participants: 8, rounds: 5, answer: 10_000, prompt: 10_000, context: 20_000 } as const;

export const reviewId = z
  .string()
  .regex(/^review_[0-9a-f]{12}$/, 'must look like review_0123456789ab')
  .meta({ id: 'DecisionReviewId' });

/**
 * `collecting`: responses of the round are missing. `critiquing`: critiques of it are, or after the last ones the review waits
 * to be finalized. `synthesized` and `canceled` are its ends.
 */
export const reviewState = z.enum(['collecting', 'critiquing', 'synthesized', 'canceled']);
export type ReviewState = z.infer<typeof reviewState>;

export const answerKind = z.enum(['response', 'critique']);
export type AnswerKind = z.infer<typeof answerKind>;

const round = z.number().int().min(1).max(reviewLimits.rounds);
const title = text(200, 1);
const prompt = text(reviewLimits.prompt, 1);
const context = text(reviewLimits.context, 1);
const label = text(100, 1);
const modelName = text(200, 1);
const reason = text(2_000, 1);

/** What a model has used for an answer. */
const usage = z.object({ inputTokens: z.number(), outputTokens: z.number(), cost: z.number().optional() });

const participant = z.object({
  id: slug,
  label,
  /** Absent for a participant whose answers people or agents submit. */
  model: modelName.optional(),
  /** The profile that the model and the instructions are from. */
  profileId: slug.optional(),
  status: z.enum(['active', 'failed']),
  /** Why it takes part no longer. */
  failure: z.object({ reason: z.string(), kind: answerKind, round, at: timestamp }).optional(),
});
export type ReviewParticipant = z.infer<typeof participant>;

/** That a participant has answered; the text is beside the review. */
export const reviewAnswer = z.object({
  id: z.string(),
  kind: answerKind,
  round,
  participantId: slug,
  by: z.string(),
  at: timestamp,
  usage: usage.optional(),
});
export type ReviewAnswer = z.infer<typeof reviewAnswer>;

const shown = {
  id: reviewId,
  taskId,
  title: z.string(),
  state: reviewState,
  rounds: round,
  /** The round that it is in. */
  round,
  participants: z.array(participant),
  decisionId: decisionId.optional(),
  createdBy: z.string(),
  createdAt: timestamp,
  updatedAt: timestamp,
  revision,
};

/** What is missing before the review goes on: the participants of this round that have not answered. */
const missing = z.array(z.object({ participantId: slug, kind: answerKind, round }));
export type MissingAnswer = z.infer<typeof missing>[number];

/** A review in a list: without its texts. */
export const decisionReviewSummary = z.object({ ...shown, missing }).meta({ id: 'DecisionReviewSummary' });

export type DecisionReviewSummary = z.infer<typeof decisionReviewSummary>;

const synthesis = z.object({ text: z.string(), by: z.string(), at: timestamp });

export const decisionReview = z
  .object({
    ...shown,
    prompt: z.string(),
    context: z.string(),
    missing,
    answers: z.array(reviewAnswer.extend({ text: z.string() })),
    /** What a model proposes as the synthesis, which is that of the review once it is finalized without another. */
    draft: synthesis.extend({ usage: usage.optional() }).optional(),
    /** Why no model has drafted one. */
    draftFailure: z.string().optional(),
    synthesis: synthesis.optional(),
    canceled: z.object({ by: z.string(), at: timestamp, reason: z.string().optional() }).optional(),
  })
  .meta({ id: 'DecisionReview' });
export type DecisionReview = z.infer<typeof decisionReview>;

const newParticipant = z
  .strictObject({ id: slug, label, model: modelName.optional(), profileId: slug.optional() })
  .refine(({ model, profileId }) => model === undefined || profileId === undefined, {
    path: ['profileId'],
    message: 'has a model of its own: give only one of model, profileId',
  });

const isDistinct = (ids: readonly string[]): boolean => new Set(ids).size === ids.length;

export const decisionReviewCreate = z
  .strictObject({
    taskId,
    title,
    prompt,
    context,
    rounds: round.default(1),
    participants: z
      .array(newParticipant)
      .min(2)
      .max(reviewLimits.participants)
      .refine((all) => isDistinct(all.map(({ id }) => id)), 'ids must be distinct'),
  })
  .meta({ id: 'DecisionReviewCreate' });
export type DecisionReviewCreate = z.output<typeof decisionReviewCreate>;

/** An answer for a participant. With `round`, one that is late for that round is refused instead of counted for the next. */
export const reviewSubmission = z
  .strictObject({ participantId: slug, text: text(reviewLimits.answer, 1), round: round.optional() })
  .meta({ id: 'DecisionReviewSubmission' });

/** `decision` records the synthesis as a decision of the task, too. */
export const reviewFinalization = z
  .strictObject({
    synthesis: text(20_000, 1).optional(),
    decision: z
      .strictObject({ confidence: z.number().min(0).max(1), riskScore: z.number().min(0).max(100).optional() })
      .optional(),
  })
  .meta({ id: 'DecisionReviewFinalization' });
export type ReviewFinalization = z.output<typeof reviewFinalization>;

export const reviewCancellation = z
  .strictObject({ reason: reason.optional() })
  .meta({ id: 'DecisionReviewCancellation' });

export const decisionReviewQuery = z
  .strictObject({ taskId: taskId.optional(), state: reviewState.optional(), ...listPage(50, 200) })
  .meta({ id: 'DecisionReviewQuery' });
export type DecisionReviewQuery = z.output<typeof decisionReviewQuery>;
