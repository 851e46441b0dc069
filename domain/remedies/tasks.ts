import { has, is, type Remedy } from './remedy';

const task = { taskId: ['resourceId'] };

/** Conflicts about tasks and about any record with a revision. */
export const taskRemedies: Record<string, Remedy> = {
  CONFLICT: [
    {
      call: 'POST /api/tasks/:taskId/restore',
      remedy: 'Restore the task from the archive first.',
      ids: task,
      when: is('location', 'archive'),
    },
    {
      call: 'GET /api/backlog/:taskId',
      remedy: 'Read the task in the backlog; POST /api/backlog/{taskId}/promote moves it to the board.',
      ids: task,
      when: is('location', 'backlog'),
    },
    {
      call: 'GET /api/tasks/:taskId',
      remedy: 'Read the task on the board; POST /api/tasks/{taskId}/demote moves it to the backlog.',
      ids: task,
      when: is('location', 'active'),
    },
    {
      call: 'POST /api/agents/:taskId/stop',
      remedy: 'Stop the active attempt, or wait for its end.',
      ids: task,
      body: { attemptId: 'attempt.id' },
      when: has('attempt'),
    },
    {
      call: 'POST /api/tasks/:taskId/time/stop',
      remedy: 'Stop the timer that is running.',
      when: has('running'),
    },
    {
      call: 'POST /api/tasks/:taskId/time/start',
      remedy: 'Start the timer first.',
      when: is('running', null),
    },
    {
      call: 'GET /api/config/agent-support',
      remedy: 'Read which hosts support which agent; enable or repair one, or request less.',
      when: is('agent', null),
    },
    {
      call: 'GET /api/agents/:taskId/attempts/:attemptId',
      remedy: 'Read what became of the attempt.',
      when: has('attemptId'),
    },
    {
      call: 'read',
      remedy: 'Read the present state, and repeat the change with its revision.',
      when: has('expectedRevision'),
    },
    { call: 'read', remedy: 'Read the present state before you change it.' },
  ],
  AUTOMATION_RUNNING: [
    {
      call: 'POST /api/automation/:taskId/complete',
      remedy: 'Complete it as its session, or report that it failed.',
      ids: task,
      body: { attemptId: 'automation.id' },
    },
  ],
  AUTOMATION_NOT_RUNNING: [
    { call: 'POST /api/automation/:taskId/start', remedy: 'Start the task; the answer has its attemptId.', ids: task },
  ],
  TASK_STATUS_CHANGED: [{ call: 'GET /api/tasks/:taskId', remedy: 'Read the status that the task was set to.' }],
  TRANSITION_GATES: [
    {
      call: 'GET /api/governance/traces/:id',
      remedy: 'Read what the gates require, add it to the task, and repeat the request.',
      ids: { id: ['traceId'] },
    },
  ],
  LINE_COMMENT_NOT_OPEN: [
    { call: 'GET /api/diff/:taskId/comments', remedy: 'Read the comments, and send or change those that are open.' },
  ],
  NO_OPEN_LINE_COMMENTS: [{ call: 'POST /api/diff/:taskId/comments', remedy: 'Add a comment on a line first.' }],
  LINE_COMMENTS_TOO_LONG: [{ call: 'repeat', remedy: 'Send fewer comments at once: name them in commentIds.' }],
  WORK_PRODUCT_VERSIONS_EXHAUSTED: [
    { call: 'POST /api/work-products', remedy: 'Create another work product with this content.' },
  ],
  BROADCAST_READERS_FULL: { none: 'The list of readers of a broadcast is full; marking is not needed to read it.' },
};
