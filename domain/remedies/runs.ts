import { calls, has, type Remedy, type Step } from './remedy';

const attempt: Step = {
  call: 'GET /api/agents/:taskId/attempts/:attemptId',
  remedy: 'Read the attempt and how it ended.',
};
const status: Step = { call: 'GET /api/agents/:taskId/status', remedy: 'Read the state of the latest attempt.' };
const start: Step = { call: 'POST /api/agents/:taskId/start', remedy: 'Start a new run of the task instead.' };
const phase: Step = {
  call: 'GET /api/agents/:taskId/phase',
  remedy: 'Read the present phase, and request the change from it.',
  ids: { taskId: ['current.taskId'] },
};
const readCatalog = (remedy: string): Step => ({
  call: 'GET /api/tool-servers/runs/:taskId/:attemptId/catalog',
  remedy,
});
const trust: Remedy = [
  { call: 'GET /api/agents/:taskId/workspace-trust', remedy: 'Read the present files and the decision about them.' },
];
const approval: Remedy = [
  {
    call: 'GET /api/run-approvals/:approvalId',
    remedy: 'Read the approval and what was decided about exactly which action.',
    ids: { approvalId: ['approvalId', 'current.id'] },
  },
];
const checkpoints = (remedy: string): Remedy => [{ call: 'GET /api/agents/:taskId/workspace/checkpoints', remedy }];

/** Refusals of what is done with runs: control, conversation, reports, phases, approvals, rewinds, output. */
export const runRemedies: Record<string, Remedy> = {
  RUN_ACTIVE: [
    {
      call: 'POST /api/agents/:taskId/recovery/cancel',
      remedy: 'Cancel the recovery of the failed attempt, or wait for it.',
      body: { attemptId: 'attemptId' },
      when: has('recovery'),
    },
    {
      call: 'POST /api/agents/:taskId/stop',
      remedy: 'Stop the active attempt, or wait for its end.',
      body: { attemptId: 'attemptId' },
      when: has('attemptId'),
    },
    { ...status, remedy: 'Read the attempt that is being launched; it may be stopped then.' },
  ],
  RUN_ENDED: [
    {
      call: 'POST /api/agents/:taskId/conversation/follow-up',
      remedy: 'Follow up the ended attempt with the message.',
      when: calls('/message', '/conversation/steer'),
    },
    attempt,
    { ...status, remedy: 'Read the latest attempt and how it ended.' },
  ],
  RUN_NOT_RUNNING: [{ ...status, remedy: 'Read the state of the attempt; repeat the request when it runs.' }],
  RUN_NOT_STARTED: [{ ...status, remedy: 'Read the state of the attempt; report its usage when it runs.' }],
  TOOL_CATALOG_MISMATCH: [readCatalog('Read the catalog of the attempt, and call with its digest.')],
  TOOL_SERVER_DEGRADED: [readCatalog('Read why the server is degraded; a new run discovers it again.')],
  TOOL_DEFINITION_CHANGED: [{ ...start, remedy: 'Start a new run: its catalog is of the present definition.' }],
  TOOL_OPERATION_REUSED: [{ call: 'repeat', remedy: 'Repeat the request with an operationId that no other call has.' }],
  TOOL_APPROVAL_REQUIRED: [
    {
      call: 'POST /api/run-approvals/:approvalId/decision',
      remedy: 'Have an administrator decide the approval; then repeat the request.',
    },
  ],
  TOOL_CALL_REPEATED: [{ ...start, remedy: 'Start a new run: this one has made the same call too often.' }],
  SOURCE_NOT_TERMINAL: [
    { call: 'POST /api/agents/:taskId/conversation/steer', remedy: 'Steer the running attempt, or wait for its end.' },
  ],
  NO_PROVIDER_IDENTITY: [start],
  PROVIDER_CHANGED: [start],
  CONTINUATION_BLOCKED: [{ call: 'GET /api/watcher-policies', remedy: 'Read what watchers may continue.' }],
  CONTINUATION_NEEDS_APPROVAL: [
    {
      call: 'POST /api/agents/:taskId/conversation/follow-up',
      remedy: 'After a review, an operator sends the message as a follow-up.',
    },
  ],
  MANIFEST_MISMATCH: [{ ...attempt, remedy: 'Read the documents of the attempt, and state their digests.' }, status],
  TOO_MANY_COMMANDS: [{ ...attempt, remedy: 'Read the attempt; send more when its agent has taken what waits.' }],
  COMMAND_CONFLICT: [{ call: 'repeat', remedy: 'Repeat the request with a new Idempotency-Key.' }],
  COMPLETION_CONFLICT: [attempt],
  CONFLICTING_CLAIM: [attempt],
  NOT_REMOTE_CALLBACK: [{ ...attempt, remedy: 'Read the attempt: its worker records its end.' }],
  AGENT_MISMATCH: [{ ...attempt, remedy: 'Read which agent the attempt has.' }],
  STALE_ATTEMPT: [{ call: 'GET /api/agents/:taskId/recovery', remedy: 'Read which attempt is in recovery.' }],
  RECOVERY_NOT_CANCELLABLE: [{ call: 'GET /api/agents/:taskId/recovery', remedy: 'Read what became of the recovery.' }],
  WATCHDOG_RESOLVED: [{ call: 'GET /api/agents/:taskId/watchdog', remedy: 'Read how the finding was resolved.' }],
  ARTIFACT_EXPIRED: [
    { call: 'GET /api/agents/:taskId/output-artifacts/:artifactId', remedy: 'Read the metadata, which remain.' },
  ],
  ARTIFACT_QUARANTINED: [
    { call: 'GET /api/agents/:taskId/output-artifacts/:artifactId', remedy: 'Read the metadata and the reason.' },
  ],
  ARTIFACT_NOT_JSON: [{ call: 'repeat', remedy: 'Read the content as text, without a JSONPath.' }],

  PHASE_STALE: [phase],
  PHASE_EMERGENCY_ACTIVE: [{ ...phase, remedy: 'Read when the emergency phase ends.' }],
  PHASE_JOURNAL_FULL: [
    { call: 'POST /api/agents/:taskId/stop', remedy: 'Stop the run, and launch it in the phase it needs.' },
  ],
  PHASE_OPERATION_REUSED: [{ call: 'repeat', remedy: 'Repeat the request with a new operationId.' }],
  PHASE_UNSUPPORTED: [
    { ...phase, remedy: 'Read the present phase and what it enforces.', when: calls('/phase/transitions') },
    { call: 'GET /api/config/agent-support', remedy: 'Read what each agent can enforce; choose another one.' },
  ],
  APPROVAL_NOT_GIVEN: approval,
  APPROVAL_ACTION_CHANGED: approval,
  APPROVAL_NOT_PENDING: approval,
  APPROVAL_STALE: approval,
  TRUST_NOT_REQUIRED: trust,
  TRUST_NOT_GRANTED: trust,
  TRUST_DECIDED: trust,
  INVENTORY_CHANGED: trust,
  INVENTORY_UNPINNED: trust,

  REWIND_UNSUPPORTED: checkpoints('Read the checkpoints of the attempt, if it has any.'),
  REWIND_DIVERGED: checkpoints('Read the latest checkpoint, and plan the rewind from it.'),
  REWIND_NOT_BEGUN: [{ call: 'repeat', remedy: 'Repeat the request: the rewind is begun again.' }],
  REWIND_FAILED: checkpoints('Read the checkpoints, and plan another rewind with a new request id.'),
  REWIND_REJECTED: approval,
  REWIND_CONFLICT: [{ call: 'repeat', remedy: 'Repeat the request with a decision for each path in details.paths.' }],
};
