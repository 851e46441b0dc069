import { is, type Remedy, type Step } from './remedy';

const review = (remedy: string): Step => ({
  call: 'GET /api/tasks/:taskId/review',
  remedy,
  ids: { taskId: ['taskId', 'resourceId'] },
});

/** Refusals of decisions about the results of runs, and of what would pass them. */
export const reviewRemedies: Record<string, Remedy> = {
  REVIEW_OPEN: [
    {
      call: 'POST /api/tasks/:taskId/review/accept',
      remedy: 'Accept the result of the run, with {"delivery": "none"} for no merge; or send it back.',
      ids: { taskId: ['resourceId'] },
      body: { attemptId: 'review.attemptId' },
      when: is('resourceType', 'task'),
    },
    review('Read the review that waits for its decision.'),
  ],
  REVIEW_AWAITING_MERGE: [
    {
      call: 'POST /api/github/pr/:taskId/refresh',
      remedy: 'Merge the pull request at the forge, then read it from there: a merged one completes the task.',
      ids: { taskId: ['taskId', 'resourceId'] },
    },
    review('Read which pull request is to be merged.'),
  ],
  REVIEW_OTHER_BASE: [review('Read which pull request was accepted, and accept the result again.')],
  REVIEW_INTERRUPTED: [review('Read the review, and accept the result again.')],
  REVIEW_PULL_REQUEST_CLOSED: [review('Read the review; accept it again, or send it back.')],
  REVIEW_AWAITED: [
    {
      call: 'POST /api/agents/:taskId/stop',
      remedy: 'Wait for the end of the active run and review its result; or stop it.',
      ids: { taskId: ['resourceId'] },
      body: { attemptId: 'attempt.id' },
    },
  ],
  REVIEW_ACCEPTING: [review('Read how far the acceptance is, and what came of it.')],
  REVIEW_NOT_OPEN: [review('Read whether a result of the task needs a review.')],
  REVIEW_CLOSED: [review('Read which decision was made, and by whom.')],
  REVIEW_OTHER_ATTEMPT: [review('Read which attempt is reviewed, and look at its changes first.')],
  REVIEW_RETURNED: [review('Read why the review was opened again.')],
  REVIEW_TASK_MOVED: [
    {
      call: 'POST /api/tasks/:taskId/restore',
      remedy: 'Restore the task from the archive first.',
      when: is('location', 'archive'),
    },
    {
      call: 'POST /api/backlog/:taskId/promote',
      remedy: 'Promote the task to the board first.',
      when: is('location', 'backlog'),
    },
    { call: 'PATCH /api/tasks/:taskId', remedy: 'Set the task to in-progress again, and repeat the decision.' },
  ],
  REVIEW_WITHOUT_WORKTREE: [
    { call: 'repeat', remedy: 'Accept with {"delivery": "none"}, which completes the task without one.' },
  ],
  CEREMONY_REQUIRED: [
    { call: 'GET /api/ceremonies', remedy: 'Complete the pending ceremonies of the task, and accept again.' },
  ],
};
