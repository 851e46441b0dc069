import { phaseDimension } from '../../../contracts/runs/phase';
import { watchdogConfidence, watchdogDetector } from '../../../contracts/runs/watchdog';
import { sampleRequest } from '../../../domain/admission/sample-request';
import { newApproval } from '../../../domain/approvals/record';
import type { Stored } from '../../../stores/port/collection';
import { createQueueStore } from '../../../stores/runs/admission/queue-store';
import { createReservationStore } from '../../../stores/runs/admission/reservation-store';
import { createTreeStore } from '../../../stores/runs/admission/tree-store';
import { createApprovalStore } from '../../../stores/runs/approval-store';
import { createScheduledLaunchStore } from '../../../stores/runs/launch/scheduled-launch-store';
import { createScheduledDeliverableRunStore } from '../../../stores/runs/schedules/scheduled-deliverable-run-store';
import { createScheduledDeliverableStore } from '../../../stores/runs/schedules/scheduled-deliverable-store';
import { createCheckpointStore } from '../../../stores/runs/workspaces/checkpoint-store';
import { createHookExecutionStore } from '../../../stores/settings/hook-store';
import { anApprovalRequest } from '../../support/factories/approval';
import type { ApiUnderTest } from '../api-under-test';
import { launchCases } from './cases.launches';
import { done, type ListCase, posting } from './list-case';

const taskId = 'task_20260101_lister';
const at = (n = 0) => new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString();
const attemptId = (n: number) => `attempt_list00000${n}`;
const object = 'a'.repeat(40);

/** Puts a record where its store looks for it, without what only a running workflow needs. */
async function put(board: ApiUnderTest, name: string, record: Stored & Record<string, unknown>): Promise<void> {
  await (await board.api.context.database.collection<Stored>({ name })).insert(record);
}

const putAttempt = (board: ApiUnderTest, n: number, fields: object = {}) =>
  put(board, 'attempts', {
    _id: attemptId(n),
    schemaVersion: 'attempt/v1',
    taskId,
    rootAttemptId: attemptId(n),
    retryNumber: 0,
    agent: 'example',
    provider: 'process',
    phase: 'implement',
    commitPolicy: 'allowed',
    state: 'ended',
    revision: 1,
    hostId: null,
    // Two at a time were made in the same millisecond.
    createdAt: at(Math.floor(n / 2)),
    createdBy: 'user:test',
    ...fields,
  });

const tracedTask = 'task_20260101_traced';
const tracedAttempt = 'attempt_list0traced';

const digest = `sha256:${'0'.repeat(64)}`;
const evidence = {
  schemaVersion: 'phase-capability-evidence/v1',
  phase: 'implement',
  mode: 'legacy',
  dimensions: Object.fromEntries(
    phaseDimension.options.map((name) => [name, { scopes: [], approval: [], enforcement: 'enforced', limitedBy: [] }]),
  ),
  digest,
} as const;
const transition = {
  kind: 'transition',
  comparison: 'same',
  fromEvidenceDigest: digest,
  evidence,
  reason: 'to list it',
  actor: 'user:test',
  at: at(),
};

const finding = {
  schemaVersion: 'progress-watchdog-finding/v1',
  taskId,
  attemptId: 'attempt_watchdog0001',
  turnId: null,
  detector: watchdogDetector.options[0],
  confidence: watchdogConfidence.options[0],
  summary: 'It goes in circles.',
  recommendedAction: 'warn',
  evidence: { observed: 3, threshold: 3, unit: 'repetitions', fromSequence: 1, toSequence: 9, fingerprint: digest },
  createdAt: at(),
};

const attemptOfCheckpoints = 'attempt_checkpoints1';

async function putDeliverable({ api }: ApiUnderTest, id: string): Promise<void> {
  const store = await createScheduledDeliverableStore(api.context.database);
  await store.create(id, {
    ...{ name: 'Report', description: '', schedule: 'daily', timezone: 'UTC', overlapPolicy: 'skip' },
    ...{ catchUpMinutes: 10, tags: [], enabled: false, createdBy: 'ada', updatedBy: 'ada' },
  });
}
const deliverableOfRuns = 'recurring_0000000000ff';

/** What runs leave behind, and what waits for them. */
export const runCases: ListCase[] = [
  {
    operation: 'listScheduledLaunches',
    path: '/api/scheduled-launches',
    add: async ({ api }, n) => {
      const store = await createScheduledLaunchStore(api.context.database);
      const fields = { taskId, launch: {}, spec: { everyMinutes: 60 }, paused: true, createdBy: 'ada' };
      await store.create(`scheduled_00000000000${n}`, { ...fields, workspaceId: 'local' });
    },
  },
  {
    operation: 'listScheduledDeliverables',
    path: '/api/deliverables',
    add: (board, n) => putDeliverable(board, `recurring_00000000000${n}`),
  },
  {
    operation: 'getScheduler',
    path: '/api/scheduler',
    items: 'items',
    add: (board, n) => putDeliverable(board, `recurring_10000000000${n}`),
  },
  {
    operation: 'listScheduledDeliverableRuns',
    path: `/api/deliverables/${deliverableOfRuns}/runs`,
    prepare: async (board) => {
      await putDeliverable(board, deliverableOfRuns);
      return '';
    },
    add: async ({ api }, n) => {
      const runs = await createScheduledDeliverableRunStore(api.context.database);
      await runs.begin({
        ...{ _id: `recurring_run_00000000000${n}`, deliverableId: deliverableOfRuns, trigger: 'report' },
        ...{ status: 'success', startedAt: at(Math.floor(n / 2)), startedBy: 'ada', endedAt: at(n), taskId: null },
        ...{ attemptId: null, reportedBy: 'ada', workflow: null },
      });
    },
  },
  {
    operation: 'listAttempts',
    path: `/api/agents/${taskId}/attempts`,
    items: 'attempts',
    add: (board, n) => putAttempt(board, n),
  },
  {
    operation: 'listTaskTraces',
    path: `/api/traces/task/${tracedTask}`,
    items: 'traces',
    idOf: ({ traceId }) => traceId,
    add: (board, n) => putAttempt(board, n + 100, { taskId: tracedTask, steps: { admitted: at(Math.floor(n / 2)) } }),
  },
  {
    operation: 'getRunTrace',
    path: `/api/traces/${tracedAttempt}`,
    items: 'spans',
    idOf: ({ spanId }) => spanId,
    prepare: async (board) => {
      await putAttempt(board, 0, { _id: tracedAttempt, taskId: 'task_20260101_spans0', steps: { admitted: at() } });
      return '';
    },
    add: async ({ api }, n) =>
      api.context.events.append(
        { taskId: 'task_20260101_spans0', attemptId: tracedAttempt, provider: 'process', agent: 'example' },
        [{ kind: 'tool.started', payload: { name: `tool ${n}` }, itemId: `tool-${n}`, receivedAt: at(n) }],
      ),
  },
  {
    operation: 'listWorkspaceCheckpoints',
    path: `/api/agents/${taskId}/workspace/checkpoints?attemptId=${attemptOfCheckpoints}`,
    items: 'checkpoints',
    prepare: async (board) => {
      await put(board, 'attempts', { _id: attemptOfCheckpoints, taskId, createdAt: at(), state: 'ended' });
      return '';
    },
    add: async ({ api }, n) =>
      (await createCheckpointStore(api.context.database)).add({
        schemaVersion: 'workspace-checkpoint/v1',
        id: `checkpoint_list00000_${n}`,
        taskId,
        attemptId: attemptOfCheckpoints,
        number: n,
        parentId: null,
        turn: null,
        sequence: n,
        ref: 'refs/board/x',
        commit: object,
        tree: object,
        indexTree: object,
        headSha: object,
        branch: null,
        changes: [],
        truncated: false,
        createdAt: at(),
      }),
  },
  {
    operation: 'getRunWatchdog',
    path: `/api/agents/${taskId}/watchdog?attemptId=attempt_watchdog0001`,
    items: 'findings',
    prepare: async (board) => {
      await put(board, 'attempts', { _id: 'attempt_watchdog0001', taskId, createdAt: at(), state: 'ended' });
      return '';
    },
    add: (board, n) =>
      put(board, 'watchdog-findings', { ...finding, _id: `watchdog_0000000${n}-00000000-00000000-00000000` }),
  },
  // There are as many as the release brings.
  { operation: 'listAgentPresets', path: '/api/config/agent-presets', items: 'presets', add: () => Promise.resolve() },
  {
    operation: 'getAgentSupport',
    path: '/api/config/agent-support',
    items: 'agents',
    idOf: ({ agentType }) => agentType,
    add: (board, n) => {
      const agents = Array.from({ length: n }, (_, index) => {
        return { type: `agent-${index}`, name: `Agent ${index}`, provider: 'process', command: 'node', args: [] };
      });
      return done(board, 'PUT', '/api/config/agents', { agents });
    },
  },
  ...['', 'state=active&state=released&', 'taskId=task-listed&state=active&'].map((filter): ListCase => {
    return {
      operation: 'listReservations',
      path: `/api/admission?${filter}`.slice(0, -1),
      items: 'reservations',
      add: async ({ api }, n) => {
        const request = sampleRequest(`attempt_reserved${10 + filter.length}${n}`, {
          taskId: 'task-listed',
          requestedAt: at(),
        });
        const store = await createReservationStore(api.context.database);
        await store.reserve(request, [], { now: new Date(), leaseMs: 60_000 });
      },
    };
  }),
  {
    operation: 'listPendingLaunches',
    path: '/api/agents/pending',
    items: 'entries',
    add: async ({ api }, n) => {
      const store = await createQueueStore(api.context.database);
      const request = sampleRequest(attemptId(150 + n));
      await store.enqueue({ ...request, enqueuedAt: at(), limitingKey: null, limitingPolicies: [] });
    },
  },
  {
    operation: 'listAdmissionQueue',
    path: '/api/admission/queue?state=queued&state=requeued',
    items: 'entries',
    add: async ({ api }, n) => {
      const store = await createQueueStore(api.context.database);
      const request = sampleRequest(attemptId(100 + n));
      await store.enqueue({ ...request, enqueuedAt: at(), limitingKey: null, limitingPolicies: [] });
    },
  },
  {
    operation: 'getExecutionTree',
    path: '/api/admission/tree/root-listed',
    items: 'contributors',
    idOf: ({ nodeId }) => nodeId,
    prepare: async ({ api }) => {
      await (await createTreeStore(api.context.database)).open(sampleRequest('root-listed'));
      return '';
    },
    add: async ({ api }, n) => {
      const node = {
        edge: 'child-agent',
        rootObjectiveId: 'root-listed',
        parentNodeId: 'root-listed',
        depth: 1,
      } as const;
      await (await createTreeStore(api.context.database)).register(sampleRequest(`node-${n}`, node), 100);
    },
  },
  {
    operation: 'listRunApprovals',
    path: '/api/run-approvals?status=pending',
    add: async ({ api }, n) => {
      const request = anApprovalRequest({ taskId, attemptId: attemptId(1) }, { providerRequestId: `request-${n}` });
      await (await createApprovalStore(api.context.database)).open(newApproval(request, new Date()));
    },
  },
  {
    operation: 'getRunPhase',
    path: `/api/agents/${taskId}/phase?attemptId=attempt_phases00001`,
    items: 'history',
    idOf: ({ sequence }) => sequence,
    backwards: true,
    prepare: async (board) => {
      await put(board, 'attempts', { _id: 'attempt_phases00001', taskId, createdAt: at(), state: 'ended' });
      return '';
    },
    add: async ({ api }, n) => {
      const phases = await api.context.database.collection<Stored & { history: unknown[] }>({ name: 'run-phases' });
      const entry = { ...transition, sequence: n, operationId: `operation-${n}` };
      const known = {
        taskId,
        launchPhase: 'implement',
        evidence,
        manifestDigest: digest,
        sequence: n,
        emergency: null,
      };
      await phases.findOneAndUpdate(
        { _id: 'attempt_phases00001' },
        { $set: known, $push: { history: entry } },
        { upsert: true },
      );
    },
  },
  ...launchCases,
  {
    operation: 'listHooks',
    path: '/api/hooks?event=task.created',
    add: posting('/api/hooks', (n) => {
      return {
        name: `Hook ${n}`,
        event: 'task.created',
        action: 'webhook',
        config: { url: `https://example.org/${n}` },
      };
    }),
  },
  {
    operation: 'listHookExecutions',
    path: `/api/hooks/executions?taskId=${taskId}`,
    add: async ({ api }, n) =>
      (await createHookExecutionStore(api.context.database)).note({
        id: `execution-${n}`,
        hookId: 'hook_0123456789ab',
        hookName: 'Hook',
        event: 'task.created',
        taskId,
        action: 'webhook',
        state: 'delivered',
        success: true,
        attempts: 1,
        durationMs: 1,
        executedAt: at(),
      }),
  },
  {
    operation: 'listTaskSubscriptions',
    prepare: async (board) => (await done(board, 'POST', '/api/tasks', { title: 'talked about' })).id,
    path: (id) => `/api/notifications/subscriptions/${id}`,
    idOf: ({ agent }) => agent,
    add: (board, n, id) => done(board, 'POST', `/api/tasks/${id}/comments`, { author: `author-${n}`, text: 'yes' }),
  },
  {
    operation: 'listActivityFilters',
    path: '/api/activity/filters',
    items: 'agents',
    idOf: (agent) => agent,
    add: ({ api }, n) =>
      api.context.activity.record([{ type: 'agent_event', taskId, taskTitle: 'x', actor: `agent:filtered-${n}` }]),
  },
  {
    operation: 'summariseTime',
    path: '/api/tasks/time/summary',
    items: 'byProject',
    idOf: ({ project }) => project,
    add: async (board, n) => {
      const { id } = await done(board, 'POST', '/api/tasks', { title: 'timed', project: `timed-${n}` });
      await done(board, 'POST', `/api/tasks/${id}/time/entry`, { duration: 60 * n });
    },
  },
  {
    operation: 'listDependencies',
    prepare: async (board) => (await done(board, 'POST', '/api/tasks', { title: 'waited for' })).id,
    path: (id) => `/api/tasks/${id}/dependencies`,
    items: 'blocks',
    add: async (board, _n, id) => {
      const waiting = await done(board, 'POST', '/api/tasks', { title: 'waits' });
      await done(board, 'POST', `/api/tasks/${waiting.id}/dependencies`, { depends_on: id });
    },
  },
];
