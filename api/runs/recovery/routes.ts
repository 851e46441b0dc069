import {
  recoveryCancel,
  recoveryList,
  recoveryQuery,
  type RunRecovery,
  runRecovery,
  workflowRecoveryCancel,
} from '../../../contracts/runs/recovery';
import { AppError, assertFound, conflict } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { cancelRecovery } from '../../../stores/runs/cancel-recovery';
import type { WorkflowContext } from '../../context';
import { taskParams, workflowRunParams } from '../attempts/parameters';

/** States in which nothing has been launched yet. */
const cancellable: RunRecovery['state'][] = ['scheduled', 'launching'];

const notCancellable = (recovery: RunRecovery) =>
  conflict(
    `The recovery is ${recovery.state}; only a waiting or launching one can be cancelled.`,
    { state: recovery.state, recovery },
    'RECOVERY_NOT_CANCELLABLE',
  );

/**
 * Cancels the latest recovery of a task or a step if it is the one of exactly this attempt, and nothing was launched yet.
 *
 * @throws AppError 409 `STALE_ATTEMPT`, `RECOVERY_NOT_CANCELLABLE`, both with the present recovery
 */
async function cancelLatest(
  context: WorkflowContext,
  latest: RunRecovery,
  { attemptId, actor }: { attemptId: string; actor: string },
): Promise<RunRecovery> {
  if (latest.attemptId !== attemptId) {
    throw conflict(
      'This attempt is not the one in recovery.',
      { attemptId, state: latest.state, recovery: latest },
      'STALE_ATTEMPT',
    );
  }
  if (!cancellable.includes(latest.state)) {
    throw notCancellable(latest);
  }
  const recovery = await cancelRecovery({ ...context, now: () => new Date() }, attemptId, { actor });
  assertFound(recovery, 'recovery of attempt', attemptId);
  if (recovery.state !== 'cancelled') {
    throw notCancellable(recovery);
  }
  // Its workflow may not have been started yet, or be over; then there is no wait to end.
  void context.runLauncher.endRecoveryWait(attemptId, actor).catch(() => undefined);
  return recovery;
}

/** What follows a run that failed. */
export function recoveryRoutes(routes: Routes, context: WorkflowContext): void {
  const { recoveries } = context;

  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/recovery',
      operationId: 'getRunRecovery',
      summary: 'Read the latest recovery of a task, or null',
      tag: 'runs',
      permission: 'agent:read',
      params: taskParams,
      response: runRecovery.nullable(),
    },
    async ({ params }) => (await recoveries.latest(params.taskId)) ?? null,
  );

  routes.add(
    {
      method: 'get',
      path: '/agents/recoveries',
      operationId: 'listRecoveries',
      summary: 'List recoveries under way: those whose next attempt is yet to be launched',
      tag: 'runs',
      permission: 'agent:read',
      query: recoveryQuery,
      response: recoveryList,
    },
    async ({ query }) => {
      const page = await recoveries.underWay(query);
      return page.answer({ recoveries: page.items });
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/recovery/cancel',
      operationId: 'cancelRunRecovery',
      localAgent: true,
      summary: 'Cancel the recovery of a failed attempt before it launches',
      tag: 'runs',
      permission: 'task:write',
      params: taskParams,
      body: recoveryCancel,
      response: runRecovery,
      errors: [409],
    },
    async ({ params: { taskId }, body: { attemptId }, auth }) => {
      const latest = await recoveries.latest(taskId);
      assertFound(latest, 'recovery of task', taskId);
      return cancelLatest(context, latest, { attemptId, actor: auth.actor });
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/workflows/runs/:runId/recovery/cancel',
      operationId: 'cancelWorkflowRecovery',
      localAgent: true,
      summary: 'Cancel the recovery of a failed workflow step before it launches',
      tag: 'workflows',
      permission: 'workflow:execute',
      params: workflowRunParams,
      body: workflowRecoveryCancel,
      response: runRecovery,
      errors: [409],
    },
    async ({ params: { runId }, body: { stepId, parentRunId }, auth }) => {
      const latest = await recoveries.latestOfStep(runId, stepId);
      if (!latest) {
        const message = 'This step of the workflow run has no recovery.';
        throw new AppError('NOT_FOUND', { status: 404, message, details: { resource: 'recovery', runId, stepId } });
      }
      return cancelLatest(context, latest, { attemptId: parentRunId, actor: auth.actor });
    },
  );
}
