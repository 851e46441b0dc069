import { calls, has, is, type Refused, type Remedy, type Step } from './remedy';

const startAgain: Step = { call: 'POST /api/agents/:taskId/start', remedy: 'Launch the task again.' };
const support = 'GET /api/config/agent-support';

const isMissingRepository = ({ details }: Refused): boolean =>
  Array.isArray(details.missing) && details.missing.includes('git.repo');

const checkAgent = (remedy: string): Step => ({
  call: 'POST /api/config/agents/:type/check',
  remedy,
  ids: { type: ['agent'] },
});

const onTree = calls('/api/admission/tree');
const readTree: Step = {
  call: 'GET /api/admission/tree/:rootObjectiveId',
  remedy: 'Read the usage, the limits and the state of the execution tree.',
};

/** Refusals of launches: readiness, agents, repositories, admission. */
export const launchRemedies: Record<string, Remedy> = {
  RUN_NOT_READY: [
    {
      call: 'POST /api/tasks/:taskId/restore',
      remedy: 'Restore the task from the archive first.',
      when: is('location', 'archive'),
    },
    {
      call: 'POST /api/backlog/:taskId/promote',
      remedy: 'Move the task to the board first.',
      when: is('location', 'backlog'),
    },
    {
      call: 'PATCH /api/tasks/:taskId',
      remedy: 'Set git.repo to the name of a configured repository.',
      when: isMissingRepository,
    },
    {
      call: 'GET /api/config/profiles',
      remedy: 'Choose a profile that there is and that is enabled.',
      when: is('field', 'profileId'),
    },
    {
      call: 'GET /api/sandbox-policies',
      remedy: 'Choose a sandbox preset that there is and that is enabled.',
      when: is('field', 'sandboxPresetId'),
    },
    { call: 'repeat', remedy: 'Repeat the request without the field that details.field names.', when: has('field') },
    { call: 'GET /api/tasks/:taskId', remedy: 'Read the task, and complete what the launch needs.' },
  ],
  AGENT_UNKNOWN: [{ call: 'GET /api/config/agents', remedy: 'Choose a configured agent, or add this one.' }],
  AGENT_UNAVAILABLE: [
    {
      call: 'PUT /api/config/agents',
      remedy: 'Enable the agent, or choose one of details.available.',
      when: has('available'),
    },
    checkAgent('Check the agent on its host: the findings say what to install or to configure.'),
  ],
  AGENT_OPTION_NOT_OFFERED: [checkAgent('Choose one of details.offered, or have the list read again by a check.')],
  AGENT_STARTING: [{ call: 'repeat', remedy: 'Repeat the request after Retry-After, or launch: a launch waits.' }],
  CIRCUIT_OPEN: [checkAgent('Check why the agent does not start, and repair or configure it.')],
  AGENT_NOT_CHECKABLE: { none: 'Agents of this provider are started elsewhere: no host can check them.' },
  CAPABILITY_UNSUPPORTED: [
    {
      call: 'GET /api/agents/:taskId/status',
      remedy: 'Read which controls the run has.',
      when: has('attemptId'),
    },
    { call: support, remedy: 'Read what each agent supports; choose another one, or require less.' },
  ],
  LAUNCH_NOT_ENFORCEABLE: [
    { call: support, remedy: 'Read what each agent can enforce; choose another one, or restrict less.' },
  ],
  SECRET_IN_LAUNCH: { none: 'The fields that details.fields names have to be written without the credential.' },
  TOOL_SERVER_UNAVAILABLE: [
    {
      call: 'POST /api/tool-servers',
      remedy:
        'Create the definition of the tool server, or take its id out of toolServers of the agent or the profile.',
      when: is('reason', 'unknown'),
    },
    {
      call: 'PUT /api/tool-servers/:id',
      remedy: 'Enable the definition of the tool server.',
      ids: { id: ['serverId'] },
      when: is('reason', 'disabled'),
    },
    {
      call: 'POST /api/tool-servers/:id/discover',
      remedy: 'Correct what details.remediation names, and discover the tool server; then launch again.',
      ids: { id: ['serverId'] },
    },
  ],
  TOOL_CATALOG_TOO_LARGE: [
    {
      call: 'GET /api/config/agents',
      remedy: 'Name fewer tool servers in the configuration of the agent or in the profile.',
    },
  ],
  TOOL_SERVER_DISABLED: [
    {
      call: 'PUT /api/tool-servers/:id',
      remedy: 'Enable the definition of the tool server.',
      ids: { id: ['serverId'] },
    },
  ],
  TOOL_SERVER_CHANGED: [{ call: 'repeat', remedy: 'Repeat the request: it is about the current definition then.' }],
  CREDENTIAL_SCOPE_UNAVAILABLE: [
    {
      call: 'PATCH /api/settings/features',
      remedy: 'Add or enable the scope in details.scope at toolServers.credentialScopes.',
    },
  ],
  HOST_DRAINED: [{ call: 'POST /api/agents/hosts/:hostId/resume', remedy: 'Resume the host, or name another one.' }],
  HOST_UNAVAILABLE: [{ call: 'GET /api/agents/hosts', remedy: 'Read which hosts have a live worker; start one.' }],
  HOST_NOT_READY: [
    {
      call: 'GET /api/agents/hosts',
      remedy: 'Do what details.findings say; read here whether the host still lacks it.',
    },
  ],
  REPOSITORY_UNKNOWN: [{ call: 'POST /api/config/repos', remedy: 'Add the repository, or name a configured one.' }],
  REPOSITORY_UNAVAILABLE: [
    { call: 'GET /api/config/repos', remedy: 'Read its path and branches; repair it, or change them.' },
  ],
  WORKSPACE_UNTRUSTED: [
    {
      call: 'GET /api/agents/:taskId/workspace-trust',
      remedy: 'Read the files; an administrator trusts them with POST …/workspace-trust/decisions.',
    },
  ],
  PARENT_NOT_RUNNING: [{ ...startAgain, remedy: 'Launch the task without a parent attempt.' }],
  CHILD_AUTHORITY_WIDENED: [{ call: 'repeat', remedy: 'Repeat the request without the fields in details.fields.' }],
  WORKFLOW_RUN_MISMATCH: { none: 'Only the workflow run that made the reservation may use it.' },
  SCHEDULED_LAUNCH_PAUSED: [
    { call: 'PATCH /api/scheduled-launches/:id', remedy: 'Set paused of the scheduled launch to false.' },
  ],
  SCHEDULED_DELIVERABLE_PAUSED: [
    { call: 'PATCH /api/deliverables/:id', remedy: 'Set enabled of the scheduled deliverable to true.' },
  ],
  SCHEDULED_DELIVERABLE_BUSY: [
    {
      call: 'GET /api/deliverables/:id/runs',
      remedy: 'Wait for the end of its run, or set overlapPolicy to allow-all.',
    },
  ],
  RECOVERY_CANCELLED: [startAgain],

  ADMISSION_BUDGET_EXHAUSTED: [
    { ...readTree, remedy: 'Read which budget is exhausted; raise it, and resume the tree.' },
    {
      call: 'GET /api/metrics/budget',
      remedy: 'Read what is used of it; raise it in the feature settings, or wait for its month.',
    },
  ],
  ADMISSION_OVERLOAD: [
    { call: 'GET /api/admission', remedy: 'Read what holds the capacity; repeat after Retry-After.' },
  ],
  ADMISSION_POLICY_DENIED: [
    { call: 'GET /api/settings/features', remedy: 'Read admission.limits; request less, or raise the limit.' },
  ],
  ADMISSION_POLICY_DRIFT: [
    { call: 'GET /api/settings/features', remedy: 'Read admission.limits, which changed; launch again within them.' },
  ],
  ADMISSION_QUEUE_OVERFLOW: [
    { call: 'GET /api/admission/queue', remedy: 'Read the queue; cancel a launch in it, or repeat after Retry-After.' },
  ],
  ADMISSION_QUEUE_DRIFT: [startAgain],
  ADMISSION_QUEUE_TARGET_MISSING: [startAgain],
  ADMISSION_RESERVATION_MISSING: [startAgain],
  QUEUE_TASK_BUSY: [{ call: 'GET /api/agents/:taskId/status', remedy: 'Read the attempt that has the task.' }],
  QUEUE_AUTHORITY_REJECTED: [startAgain],
  QUEUE_CANCELLED: [startAgain],
  QUEUE_RETRY_EXHAUSTED: [startAgain],
  QUEUE_NOT_CANCELLABLE: [{ call: 'GET /api/admission/queue/:id', remedy: 'Read what became of the queued launch.' }],
  EXECUTION_TREE_CANCELLED: [
    { ...readTree, when: onTree },
    { ...startAgain, remedy: 'Launch the task outside of the cancelled tree.' },
  ],
  EXECUTION_TREE_EXPANSION_PAUSED: [
    {
      call: 'POST /api/admission/tree/:rootObjectiveId/resume',
      remedy: 'Resume the execution tree once the cause in details.signals is gone.',
    },
  ],
  EXECUTION_TREE_NOT_PAUSED: [readTree],
  EXECUTION_TREE_RESUME_BLOCKED: [{ ...readTree, remedy: 'Read the limit that persists; raise it, or wait.' }],
};
