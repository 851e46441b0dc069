import type { DecisionReview, DecisionReviewCreate } from '../../../contracts/governance/decision-review';
import { advanced, isModel, type ReviewRecord } from '../../../domain/decision-reviews/record';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { createRedactor } from '../../../platform/log/redact';
import { newRecordId, operationTime } from '../../../platform/operations/operation';
import { plainField } from '../../tasks/tasks/plain-text';
import { assertAllowed } from '../assert-allowed';
import { announced } from './changes';
import type { DecisionReviewContext } from './context';
import { assertMayAsk, participantsOf } from './participants';

/** The most reviews of a workspace that are not over. */
export const maxOpenReviews = 200;

const redact = createRedactor();

/** Opens a review. @throws AppError 400, 403, 404, 409 */
export async function createReview(
  context: DecisionReviewContext,
  body: DecisionReviewCreate,
  auth: AuthContext,
): Promise<DecisionReview> {
  const { taskId, title, prompt, context: given, rounds } = body;
  assertFound(await context.board.get(taskId), 'task', taskId);
  const participants = await participantsOf(context, body.participants);
  if (participants.some(isModel)) {
    assertMayAsk(auth);
    const models = participants.flatMap(({ id, model }) => (model === undefined ? [] : [{ id, model }]));
    const subject = { title, rounds, models };
    await assertAllowed(context, 'spend', { taskId, actor: auth.actor, also: ['decision-review'], subject });
  }
  if ((await context.decisionReviews.countOpen()) >= maxOpenReviews) {
    throw conflict(
      `${maxOpenReviews} reviews are open: finalize or cancel one first.`,
      { limit: maxOpenReviews },
      'DECISION_REVIEW_LIMIT',
    );
  }
  const at = operationTime().toISOString();
  const review: ReviewRecord = advanced({
    ...{
      id: newRecordId('review'),
      taskId,
      title: redact(plainField(title, 'title')),
      prompt: redact(prompt),
      context: redact(given),
    },
    ...{ state: 'collecting', rounds, round: 1, participants, answers: [] },
    ...{ createdBy: auth.actor, createdAt: at, updatedAt: at, revision: 1 },
  });
  return announced(context, await context.decisionReviews.open(review));
}
