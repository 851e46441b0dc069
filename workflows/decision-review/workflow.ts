import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { DecisionReviewActivities } from '../../activities/decision-review/activities';
import type { ModelActivities } from '../../activities/decision-review/models';
import { type DecisionReviewInput, reviewChangedSignal } from './messages';

const records = proxyActivities<DecisionReviewActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
  summary: 'record the decision review',
});

/** A model that does not answer in five tries is out of the review. */
const modelsOn = ({ retryMs, heartbeatTimeoutMs }: DecisionReviewInput) =>
  proxyActivities<ModelActivities>({
    startToCloseTimeout: '10 minutes',
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: { initialInterval: retryMs, maximumInterval: '1 minute', maximumAttempts: 5 },
    summary: 'ask a model',
  });

/**
 * Has models answer what a decision review asks them, until it waits for people or is over. What counts is in the stores; a
 * review that goes on later starts this again.
 */
export async function decisionReview(input: DecisionReviewInput): Promise<string> {
  const { reviewId } = input;
  const models = modelsOn(input);
  const seen = { changes: 0 };
  setHandler(reviewChangedSignal, () => {
    seen.changes += 1;
  });
  for (;;) {
    const { changes } = seen;
    const step = await records.nextReviewStep({ reviewId });
    setCurrentDetails(step.details);
    if (step.next === 'ask') {
      await Promise.all(
        step.questions.map((question) =>
          models
            .answerQuestion({ reviewId, question })
            .catch((error: unknown) => records.failParticipant({ reviewId, question, reason: reasonOf(error) })),
        ),
      );
    } else if (step.next === 'draft') {
      await models
        .draftSynthesis({ reviewId })
        .catch((error: unknown) => records.failDraft({ reviewId, reason: reasonOf(error) }));
    } else {
      await condition(allHandlersFinished);
      if (seen.changes === changes) {
        return step.details;
      }
    }
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof decisionReview>(input);
    }
  }
}

/** Why a model is not asked any more. @throws what is no failure of an activity */
function reasonOf(error: unknown): string {
  if (isCancellation(error) || !(error instanceof ActivityFailure)) {
    throw error;
  }
  return error.cause instanceof ApplicationFailure ? error.cause.message : 'Its worker did not respond.';
}
