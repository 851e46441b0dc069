import type { ReviewDecision, TaskReview } from '../../contracts/tasks/review';
import type { Task } from '../../contracts/tasks/task';
import { compact } from '../../platform/json/compact';
import { cut } from '../../platform/text/cut';

/** The review that a success waits for. */
export const pendingReview = (attemptId: string, requestedAt: string): TaskReview => ({
  state: 'pending',
  attemptId,
  requestedAt,
});

/** The part of an attempt that states which one it continues. */
export interface Following {
  _id: string;
  createdBy: string;
  parentAttemptId?: string;
  conversation?: { sourceAttemptId?: string | undefined };
  message?: { text: string; actor: string };
}

/** The most characters of a review that the task shows. */
const maxSummary = 20_000;

/**
 * What the start of an attempt makes of an open review: a follow-up of the reviewed attempt, with whatever call it was launched,
 * sends that one back; any other run supersedes it.
 */
export function reviewAfterStart(
  review: TaskReview | undefined,
  attempt: Following,
  at: Date,
): Pick<Task, 'review'> | Record<string, never> {
  if (review?.state !== 'pending' && review?.state !== 'awaiting-merge') {
    return {};
  }
  const open = undecided(review);
  const decided = { decidedAt: at.toISOString(), followUpAttemptId: attempt._id };
  if (!follows(attempt, review.attemptId)) {
    return { review: { ...open, ...decided, state: 'superseded', decidedBy: attempt.createdBy } };
  }
  const { message } = attempt;
  return {
    review: {
      ...open,
      ...decided,
      state: 'sent-back',
      decision: 'changes-requested',
      decidedBy: message?.actor ?? attempt.createdBy,
      ...compact({ summary: message && cut(message.text, maxSummary) }),
    },
  };
}

/** A review without its decision; its pull request, if it has one, stays where it is. */
function undecided(review: TaskReview): TaskReview {
  const {
    problem: _problem,
    decisionId: _decisionId,
    decision: _decision,
    decidedAt: _decidedAt,
    decidedBy: _decidedBy,
    delivery: _delivery,
    summary: _summary,
    ...open
  } = review;
  return open;
}

const follows = ({ conversation, parentAttemptId }: Following, reviewedId: string | undefined): boolean =>
  reviewedId !== undefined && (conversation?.sourceAttemptId ?? parentAttemptId) === reviewedId;

/** The decision that an attempt follows, for the log of decisions; `undefined` when it follows none. */
export function sentBackBy({ id: taskId, review }: Task, attempt: Following): ReviewDecision | undefined {
  const { state, attemptId, decidedBy, decidedAt, summary, followUpAttemptId } = review ?? {};
  if (state !== 'sent-back' || followUpAttemptId !== attempt._id || attemptId === undefined) {
    return undefined;
  }
  return {
    id: attempt._id,
    taskId,
    attemptId,
    outcome: 'sent-back',
    by: decidedBy ?? attempt.createdBy,
    at: decidedAt ?? '',
    followUpAttemptId,
    ...compact({ summary }),
  };
}
