const taskId = 'task_20260131_a1b2c3';
const attemptId = 'attempt_01JJXYZ0ABCDEFGHJKMNPQRSTV';

/** An example of the body of a request, by the id of its operation. */
export const requestExamples: Readonly<Record<string, Record<string, unknown>>> = {
  acceptReview: { attemptId, delivery: 'merge', summary: 'Adds slugify(text) with tests.' },
  addAgentFromPreset: { preset: 'claude' },
  addComment: { author: 'ada', text: 'The tests of the parser belong to it too.' },
  addDependency: { depends_on: 'task_20260130_d4e5f6' },
  addObservation: { content: 'The parser has no tests.', type: 'insight', score: 7 },
  addRepository: { name: 'shop', path: '/srv/shop', defaultBranch: 'main' },
  addSquadMessage: { agent: 'ada', message: 'The release is out, @bob.' },
  addSubtask: { title: 'Cover names with umlauts' },
  addVerificationStep: { description: 'npm test passes', required: true },
  cancelExecutionTree: { idempotencyKey: 'cancel-of-release-1', reason: 'The release was postponed.' },
  changeTask: { status: 'in-progress', priority: 'high' },
  createApiToken: { name: 'ci', role: 'agent' },
  createBroadcast: { message: 'Merges to main are frozen until noon.', priority: 'urgent', from: 'ada' },
  createInvitation: { email: 'bob@example.com', role: 'agent' },
  createProject: { label: 'Shop', color: '#3b82f6' },
  createScheduledLaunch: { taskId, spec: { cron: '0 6 * * 1-5' } },
  createTask: {
    title: 'Add helpers',
    description: '- [ ] add slugify(text)',
    priority: 'high',
    git: { repo: 'shop' },
  },
  decideRunApproval: { decision: 'approved', expectedRevision: 1, expectedActionHash: '0'.repeat(64) },
  messageRun: { attemptId, message: 'Use the names of the issue.' },
  putProgress: { content: 'The parser is done, the printer is next.' },
  sendBackReview: { attemptId, message: 'slugify has no test for umlauts.' },
  startRun: { agent: 'claude', commitPolicy: 'allowed', idempotencyKey: 'first-run-of-helpers' },
  startWorkflowRun: { taskId, context: { release: '1.4.0' } },
  steerRun: { attemptId, message: 'Leave the public names as they are.' },
  stopRun: { attemptId },
};
