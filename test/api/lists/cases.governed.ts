import { newItemId } from '../../../api/tasks/tasks/items';
import { aGoal } from '../../support/factories/goal';
import { done, type ListCase, posting } from './list-case';

const at = () => new Date().toISOString();

const started = (taskId: string, agent: string) =>
  posting('/api/telemetry/events', () => ({ type: 'run.started', taskId, agent }));

const alert = {
  agent: 'lister',
  metric: 'cost',
  baseline: 1,
  current: 2,
  deviation: 3,
  threshold: 2,
  severity: 'warning',
} as const;

/** What was decided, measured and found out. */
export const governedCases: ListCase[] = [
  {
    operation: 'listReports',
    path: '/api/reports',
    add: posting('/api/reports/generate', (n) => ({ title: `Report ${n}`, template: 'custom', content: 'Text' })),
  },
  {
    operation: 'listFailedRuns',
    path: '/api/metrics/failed-runs?period=24h&project=failing',
    add: posting('/api/telemetry/events', (n) => ({
      type: 'run.completed',
      taskId: 'task_20260101_failed',
      agent: 'lister',
      project: 'failing',
      durationMs: n,
      success: false,
    })),
  },
  {
    operation: 'listGovernanceTraces',
    path: '/api/governance/traces?kind=ceremony',
    add: ({ api }, n) =>
      api.context.traces.record({ kind: 'ceremony', outcome: 'allowed', title: `trace ${n}`, summary: 'listed' }),
  },
  {
    operation: 'getBudget',
    path: '/api/metrics/budget',
    items: 'scopes',
    idOf: ({ scopeId }) => scopeId,
    add: ({ api }, n) => {
      const run = { taskId: 'task_20260101_listed', attemptId: 'attempt_listed0001', agent: 'lister' };
      const report = { key: `list-${n}`, ...run, project: `project-${n}`, tokens: 1, costUsd: 0, at: at() };
      return api.context.budgets.ledger.record([report]);
    },
  },
  {
    operation: 'listDelegatedApprovals',
    path: '/api/delegation/log',
    items: 'approvals',
    add: ({ api }, n) => {
      const scope = { type: 'all' } as const;
      const by = { createdBy: 'ada', setBy: 'user:ada', createdAt: at() };
      const originalDelegation = { id: 'delegation_1', delegateAgent: 'lister', expires: at(), scope, ...by };
      const about = { taskId: 'task_20260101_listed', taskTitle: 'Listed', agent: 'lister' };
      const entry = { kind: 'completion', delegated: true, timestamp: at(), originalDelegation, ...about } as const;
      return api.context.delegations.note({ id: `delegated_${n}`, ...entry }, { confirmed: true });
    },
  },
  {
    operation: 'listAudit',
    path: '/api/audit?action=list.test',
    items: 'entries',
    idOf: ({ sequence }) => sequence,
    add: ({ api }, n) => api.context.audit.record({ action: 'list.test', actor: 'user:test', resource: `${n}` }),
  },
  {
    operation: 'listTrackerAudits',
    path: '/api/integrations/trackers/audits',
    items: 'audits',
    idOf: ({ sequence }) => sequence,
    add: ({ api }, n) => api.context.audit.record({ action: 'tracker.sync', actor: 'user:test', resource: `${n}` }),
  },
  {
    operation: 'listSessions',
    path: '/api/auth/sessions',
    add: ({ api }, n) =>
      api.context.sessions.add({
        _id: `session_${String(n).padStart(24, '0')}`,
        userId: 'local-user',
        workspaceId: 'local',
        role: 'admin',
        method: 'password',
        createdAt: at(),
        lastUsedAt: at(),
        expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
        remembered: false,
      }),
  },
  {
    operation: 'listDecisions',
    path: '/api/decisions?agent=lister&minConfidence=0.1',
    add: posting('/api/decisions', (n) => ({ decision: `way ${n}`, confidence: 0.5, agent: 'lister' })),
  },
  {
    operation: 'listRunContinuations',
    path: '/api/watcher-policies/continuations?taskId=task_20260101_listed',
    items: 'continuations',
    idOf: ({ sourceAttemptId }) => sourceAttemptId,
    add: ({ api }, n) =>
      api.context.runContinuations.plan({
        sourceAttemptId: `attempt_00000000000${n}`,
        taskId: 'task_20260101_listed',
        status: 'partial',
        state: 'planned',
        attemptId: `attempt_10000000000${n}`,
        plannedAt: at(),
      }),
  },
  {
    operation: 'listGoals',
    prepare: async (board) => (await board.createTask()).id,
    path: (taskId) => `/api/goals?rootTaskId=${taskId}&state=active,paused`,
    items: 'goals',
    add: (board, n, taskId) => done(board, 'POST', '/api/goals', aGoal(taskId, { objective: `goal ${n}` })),
  },
  {
    operation: 'listDecisionReviews',
    path: '/api/decisions/reviews?taskId=task_20260101_review&state=collecting',
    add: ({ api }, n) =>
      api.context.decisionReviews.open({
        ...{
          id: `review_${String(n).padStart(12, '0')}`,
          taskId: 'task_20260101_review',
          title: 'Listed',
          prompt: 'Which?',
        },
        ...{ context: 'None', state: 'collecting', rounds: 1, round: 1, participants: [], answers: [], revision: 1 },
        // Two at a time were made in the same millisecond.
        ...{ createdBy: 'user:test', createdAt: `2026-01-01T00:00:0${Math.floor(n / 2)}.000Z`, updatedAt: at() },
      }),
  },
  {
    operation: 'listCeremonies',
    path: '/api/ceremonies?status=pending',
    add: posting('/api/ceremonies', (n) => ({ kind: 'design_review', title: `ceremony ${n}` })),
  },
  {
    operation: 'listPermissionApprovals',
    path: '/api/agents/permissions/approvals?agentId=lister',
    add: ({ api }, n) =>
      api.context.permissionApprovals.request({
        id: newItemId('approval'),
        agentId: 'lister',
        action: `delete.${n}`,
        status: 'pending',
        requestedBy: 'agent:lister',
        createdAt: at(),
      }),
  },
  {
    operation: 'listTelemetry',
    path: '/api/telemetry/events?agent=lister',
    add: started('task_20260101_list01', 'lister'),
  },
  {
    operation: 'listTaskTelemetry',
    path: '/api/telemetry/events/task/task_20260101_list02',
    add: started('task_20260101_list02', 'other'),
  },
  {
    operation: 'exportTelemetry',
    path: '/api/telemetry/export?agent=exporter',
    add: started('task_20260101_list03', 'exporter'),
  },
  {
    operation: 'listErrors',
    path: '/api/errors?agent=lister',
    add: posting('/api/errors/submit', (n) => ({ errorMessage: `broke at ${n}`, agent: 'lister' })),
  },
  {
    operation: 'searchErrors',
    path: '/api/errors/search?q=needle',
    add: posting('/api/errors/submit', (n) => ({ errorMessage: `${n % 2 ? 'a needle' : 'the needle'} broke` })),
  },
  {
    operation: 'listReflections',
    path: '/api/reflections?category=session',
    add: posting('/api/reflections', (n) => ({
      category: 'session',
      promotionTarget: 'handbook',
      confidence: 0.5,
      source: { kind: 'error' },
      summary: `learnt ${n}`,
    })),
  },
  {
    operation: 'listScores',
    path: '/api/scoring/history?agent=lister',
    add: ({ api }, n) =>
      api.context.scoring.add({
        id: newItemId('evaluation'),
        profileId: 'scoring_0123456789ab',
        profileRevision: 1,
        score: 1 / n,
        compositeMethod: 'weightedAverage',
        scorerResults: [],
        agent: 'lister',
        evaluatedAt: at(),
        evaluatedBy: 'user:test',
      }),
  },
  {
    operation: 'listDriftAlerts',
    path: '/api/drift/alerts?agent=lister',
    add: ({ api }, n) => api.context.drift.raise({ ...alert, detectedAt: at() }, `run ${n}`),
  },
  {
    operation: 'listDriftBaselines',
    path: '/api/drift/baselines?metric=cost',
    idOf: ({ agent }) => agent,
    add: (board, n) => done(board, 'POST', '/api/drift/baselines/reset', { agent: `agent-${n}`, metric: 'cost' }),
  },
  {
    operation: 'listPredictionAccuracy',
    path: '/api/cost-prediction/accuracy',
    idOf: ({ taskId }) => taskId,
    add: async (board, n) => {
      const { id: taskId } = await done(board, 'POST', '/api/tasks', { title: `predicted ${n}` });
      const { costPredictions, board: tasks } = board.api.context;
      await costPredictions.keep({ taskId, predictedCost: 1, confidence: 'low', predictedAt: at() });
      await tasks.update(taskId, () => ({ status: 'done', actualCost: 2 }), { actor: 'user:test' });
    },
  },
];
