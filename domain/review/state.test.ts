import type { Task } from '../../contracts/tasks/task';
import { pendingReview, reviewAfterStart, sentBackBy } from './state';

const at = new Date('2026-01-02T00:00:00.000Z');
const pending = pendingReview('attempt_reviewed0001', '2026-01-01T00:00:00.000Z');
const next = { _id: 'attempt_next00000001', createdBy: 'user:ann' };

describe('review after the start of an attempt', () => {
  it('is sent back by a follow-up of the reviewed attempt, with its message and its reviewer', () => {
    const followUp = {
      ...next,
      conversation: { sourceAttemptId: 'attempt_reviewed0001' },
      message: { text: 'Add a test.', actor: 'user:bea' },
    };
    const { review } = reviewAfterStart({ ...pending, problem: { code: 'X', message: 'x', at: 'y' } }, followUp, at);
    expect(review).toEqual({
      ...pending,
      state: 'sent-back',
      decision: 'changes-requested',
      decidedBy: 'user:bea',
      decidedAt: at.toISOString(),
      followUpAttemptId: next._id,
      summary: 'Add a test.',
    });
    expect(sentBackBy({ id: 'task_1', review } as Task, followUp)).toMatchObject({
      id: next._id,
      attemptId: 'attempt_reviewed0001',
      outcome: 'sent-back',
      by: 'user:bea',
    });
  });

  it('is sent back by a start that names the reviewed attempt as its parent', () => {
    const started = { ...next, parentAttemptId: 'attempt_reviewed0001' };
    expect(reviewAfterStart(pending, started, at)).toMatchObject({
      review: { state: 'sent-back', decidedBy: 'user:ann' },
    });
  });

  it('is superseded by any other run, which follows no decision', () => {
    const { review } = reviewAfterStart(pending, { ...next, parentAttemptId: 'attempt_another00001' }, at);
    expect(review).toMatchObject({ state: 'superseded', followUpAttemptId: next._id });
    expect(review).not.toHaveProperty('decision');
    expect(sentBackBy({ id: 'task_1', review } as Task, next)).toBeUndefined();
  });

  it('is sent back from the wait for its pull request, whose decision is no longer shown', () => {
    const pullRequest = { number: 1, url: 'https://forge.example/pull/1', baseBranch: 'main' };
    const decided = {
      decisionId: 'review_1',
      decision: 'approved',
      delivery: 'pull-request',
      summary: 'Fine.',
    } as const;
    const followUp = { ...next, parentAttemptId: 'attempt_reviewed0001' };
    const { review } = reviewAfterStart({ ...pending, ...decided, state: 'awaiting-merge', pullRequest }, followUp, at);
    expect(review).toEqual({
      ...pending,
      pullRequest,
      state: 'sent-back',
      decision: 'changes-requested',
      decidedBy: 'user:ann',
      decidedAt: at.toISOString(),
      followUpAttemptId: next._id,
    });
  });

  it('stays what it is once it is decided, and without one there is none', () => {
    expect(reviewAfterStart({ ...pending, state: 'accepted' }, next, at)).toEqual({});
    expect(reviewAfterStart({ decision: 'rejected', decidedAt: 'by hand' }, next, at)).toEqual({});
    expect(reviewAfterStart(undefined, next, at)).toEqual({});
  });
});
