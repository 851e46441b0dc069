import type { WorkflowContext } from '../../context';

/** What the routes of decision reviews use. */
export type DecisionReviewContext = Pick<
  WorkflowContext,
  'board' | 'decisionReviews' | 'decisions' | 'feed' | 'modelNames' | 'profiles' | 'rules' | 'wakeReview'
>;
