import { createHash } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { DecisionReview, MissingAnswer, ReviewParticipant } from '../../contracts/governance/decision-review';
import { reviewLimits } from '../../contracts/governance/decision-review';
import { withAnswer, withDraft } from '../../domain/decision-reviews/changes';
import { type ModelQuestion, participantQuestion, synthesisQuestion } from '../../domain/decision-reviews/questions';
import { drafterOf, questionsOf, type ReviewRecord } from '../../domain/decision-reviews/record';
import { compact } from '../../platform/json/compact';
import { createRedactor } from '../../platform/log/redact';
import { ModelError } from '../../platform/models/errors';
import type { Models } from '../../platform/models/models';
import type { ModelAnswer } from '../../platform/models/request';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import { cut } from '../../platform/text/cut';
import type { Board } from '../../stores/board-files/types';
import { wholeReview } from '../../stores/governance/decision-reviews/review-records';
import type { Stores } from '../../stores/open-stores';
import type { DecisionReviewDependencies } from './activities';
import { announce } from './announce';
import { type ReviewBudgets, reviewSpending } from './spending';

export interface ModelDependencies extends DecisionReviewDependencies, Pick<Stores, 'profiles'> {
  board: Pick<Board, 'get'>;
  budgets: ReviewBudgets;
  /** `undefined` where no catalog of models is configured. */
  models: Models | undefined;
}

/** How long one answer may take, in milliseconds, and how long it may be. */
const answerWithinMs = 300_000;
const maxTokens = 2_500;

const redact = createRedactor();

/** The id of the answer of a model, and of its text: the same in every try. */
const answerIdOf = (reviewId: string, { kind, round, participantId }: MissingAnswer): string =>
  `answer_${createHash('sha256')
    .update(JSON.stringify([reviewId, kind, round, participantId]))
    .digest('hex')
    .slice(0, 24)}`;

export function createModelActivities(deps: ModelDependencies) {
  const { decisionReviews, models, profiles, now } = deps;
  const spending = reviewSpending(deps);
  return {
    /**
     * Asks the model of a participant, unless the review has its answer or waits for it no longer. An answer counts once it is
     * stored: after that the model is not asked again, whatever dies.
     */
    async answerQuestion({ reviewId, question }: { reviewId: string; question: MissingAnswer }): Promise<void> {
      const review = await decisionReviews.get(reviewId);
      const { participantId, kind, round } = question;
      const asked = review?.participants.find(({ id }) => id === participantId);
      const isAwaited = review && questionsOf(review).some((one) => isSame(one, question));
      if (!asked?.model || !isAwaited) {
        return;
      }
      const id = answerIdOf(reviewId, question);
      const { usage } = (await decisionReviews.readText(id)) ?? (await askParticipant(review, asked, { id, question }));
      const at = now().toISOString();
      await spending.count(review, { key: id, usage, at });
      const by = `model:${asked.model}`;
      const changed = await decisionReviews.change(reviewId, (current) =>
        withAnswer(current, { id, kind, round, participantId, by, at, ...compact({ usage }) }),
      );
      if (changed) {
        const details = { ...question, model: asked.model, ...usage };
        await announce(deps, changed, { action: `decision-review.${kind}`, details, once: id });
      }
    },

    /** Asks a model for the synthesis of a complete review, which a person finalizes or replaces. */
    async draftSynthesis({ reviewId }: { reviewId: string }): Promise<void> {
      const review = await decisionReviews.get(reviewId);
      const model = review && drafterOf(review)?.model;
      if (!model || review.work !== 'draft') {
        return;
      }
      const whole = await wholeReview(decisionReviews, review);
      await assertWithinBudgets(review);
      const { text, usage } = await ask(model, synthesisQuestion(whole));
      const at = now().toISOString();
      await spending.count(review, { key: `${reviewId}/draft`, usage, at });
      const draft = { text, by: `model:${model}`, at, usage };
      const changed = await decisionReviews.change(reviewId, (current) => withDraft(current, { draft }, at));
      if (changed) {
        const details = { model, ...usage };
        await announce(deps, changed, { action: 'decision-review.draft', details, once: `${reviewId}/draft` });
      }
    },
  };

  /** Asks the model of a participant with the instructions that its profile has now, and stores the answer. */
  async function askParticipant(
    review: ReviewRecord,
    { model = '', profileId }: ReviewParticipant,
    { id, question }: { id: string; question: MissingAnswer },
  ): Promise<{ usage?: Usage | undefined }> {
    const whole = await wholeReview(decisionReviews, review);
    const instructions = profileId === undefined ? '' : (await profiles.get(profileId))?.instructions;
    await assertWithinBudgets(review);
    const answer = await ask(model, participantQuestion(whole, question, instructions));
    await decisionReviews.writeText({ id, reviewId: review.id, ...answer });
    return answer;
  }

  /** @throws ApplicationFailure which another try does not help, when a budget is used up */
  async function assertWithinBudgets(review: ReviewRecord): Promise<void> {
    const problem = await spending.problem(review);
    if (problem !== undefined) {
      throw failure(problem, false);
    }
  }

  /** @throws ApplicationFailure `MODEL_REFUSED`, which another try does not help, or `MODEL_UNAVAILABLE` */
  async function ask(model: string, { system, prompt }: ModelQuestion): Promise<{ text: string; usage: Usage }> {
    if (!models) {
      throw failure('No models are configured on this worker.', false);
    }
    const request = {
      model,
      system,
      messages: [{ role: 'user' as const, content: [{ kind: 'text' as const, data: prompt }] }],
      max_tokens: maxTokens,
    };
    const answer = await withHeartbeat((signal) =>
      models.complete(request, { signal, timeoutMs: answerWithinMs }),
    ).catch((error: unknown) => {
      throw error instanceof ModelError
        ? failure(redact(error.message), error.retryable || error.kind === 'aborted')
        : error;
    });
    const text = cut(redact(answer.text.trim()), reviewLimits.answer);
    if (text === '') {
      throw failure(`${model} has answered nothing.`, true);
    }
    return { text, usage: usageOf(answer) };
  }
}

type Usage = NonNullable<DecisionReview['answers'][number]['usage']>;

const usageOf = ({ usage }: ModelAnswer): Usage => ({
  ...{
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    ...compact({ cost: usage.cost ?? undefined }),
  },
});

const isSame = (a: MissingAnswer, b: MissingAnswer): boolean =>
  a.participantId === b.participantId && a.kind === b.kind && a.round === b.round;

const failure = (message: string, retryable: boolean): ApplicationFailure =>
  ApplicationFailure.create({
    type: retryable ? 'MODEL_UNAVAILABLE' : 'MODEL_REFUSED',
    message: cut(message, 1_000),
    nonRetryable: !retryable,
  });

export type ModelActivities = ReturnType<typeof createModelActivities>;
