import type { Features } from '../../contracts/settings/settings';
import type { Task } from '../../contracts/tasks/task';

/** Whether a success of the task's runs needs a review before the task is done: by its own policy, or by the setting for all. */
export const needsReview = (
  { executionPolicy }: Pick<Task, 'executionPolicy'>,
  { requireReview }: Pick<Features['agents'], 'requireReview'>,
): boolean => requireReview || executionPolicy?.review === 'required';

/** How an acceptance delivers the result of the task's runs that names no delivery. */
export const defaultDeliveryOf = (
  { executionPolicy }: Pick<Task, 'executionPolicy'>,
  { reviewDelivery }: Pick<Features['agents'], 'reviewDelivery'>,
): Features['agents']['reviewDelivery'] => executionPolicy?.reviewDelivery ?? reviewDelivery;
