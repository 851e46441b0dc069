import type { Remedy, Step } from './remedy';

const read = (remedy: string): Step => ({
  call: 'GET /api/decisions/reviews/:id',
  remedy,
  ids: { id: ['reviewId'] },
});

const profiles: Step = {
  call: 'GET /api/config/profiles',
  remedy: 'Read the profiles: one that is enabled and names a model can take part.',
};

/** Refusals of decision reviews. */
export const decisionReviewRemedies: Record<string, Remedy> = {
  DECISION_REVIEW_OVER: [read('Read how the review ended.')],
  DECISION_REVIEW_OUT_OF_TURN: [read('Read which answers of which round the review waits for.')],
  DECISION_REVIEW_ANSWERED: [read('Read the answer that counts, and which ones are missing.')],
  DECISION_REVIEW_MODEL: [read('Wait for the model, whose answer the review will have.')],
  DECISION_REVIEW_INCOMPLETE: [read('Submit the answers that details.missing names, or cancel the review.')],
  DECISION_REVIEW_EMPTY: [
    { call: 'POST /api/decisions/reviews/:id/cancel', remedy: 'Cancel the review.', ids: { id: ['reviewId'] } },
  ],
  DECISION_REVIEW_LIMIT: [{ call: 'GET /api/decisions/reviews', remedy: 'Finalize or cancel reviews that are open.' }],
  REVIEW_PROFILE_UNUSABLE: [profiles],
  MODELS_NOT_CONFIGURED: {
    none: 'An administrator sets BOARD_MODELS for the API and the workers; people can answer without it.',
  },
  MODEL_UNKNOWN: { none: 'The models of the catalog are in details.models.' },
};
