import type { LaunchOrigin } from '../../contracts/admission';
import { launchAnswer, workflowStepLaunch, type LaunchAnswer, type WorkflowStepLaunch } from '../../contracts/launch';
import { AppError, conflict } from '../../platform/errors/app-error';
import type { Routes } from '../../platform/http/routes';
import { presentedIdempotencyKey } from '../../platform/http/idempotency';
import type { RunsContext } from './context';
import { launchRun, type LaunchCaller } from './launch';
import { ofWorkflowStep } from './parameters';

/** Runs for the steps of a workflow run. Who may start a run may start one for a step. */
export function workflowStepRoutes(routes: Routes, context: RunsContext): void {
  routes.add(
    {
      method: 'post',
      path: '/workflows/runs/:runId/steps/:stepId/start',
      operationId: 'startWorkflowStep',
      idempotency: 'own',
      summary: 'Start a run of an agent for a step of a workflow run, or queue it',
      tag: 'workflows',
      permission: 'agent:write',
      params: ofWorkflowStep,
      body: workflowStepLaunch,
      response: launchAnswer,
      status: 201,
      errors: [404, 409, 503],
    },
    ({ params, body, auth, header }) =>
      startStep(context, params, body, {
        actor: auth.actor,
        workspaceId: auth.workspaceId,
        headerKey: presentedIdempotencyKey(header),
      }),
  );
}

async function startStep(
  context: RunsContext,
  step: { runId: string; stepId: string },
  { taskId, rootReservationId, ...request }: WorkflowStepLaunch,
  caller: LaunchCaller,
): Promise<LaunchAnswer> {
  if (rootReservationId === undefined) {
    return launchRun(context, taskId, request, caller, { origin: originOf(step) });
  }
  await requireOfRun(context, step.runId, rootReservationId, caller.workspaceId);
  return launchRun(context, taskId, request, caller, { origin: originOf({ ...step, rootReservationId }) });
}

/** The first launch of a run is the root of a tree; what names its reservation descends from it. */
function originOf(workflow: { runId: string; stepId: string; rootReservationId?: string }): LaunchOrigin {
  const { rootReservationId } = workflow;
  if (rootReservationId === undefined) return { source: 'workflow', edge: 'root', workflow };
  return { source: 'workflow', edge: 'workflow-step', parentAttemptId: rootReservationId, workflow };
}

/** @throws AppError 404 for a launch that is not in the workspace, 409 `WORKFLOW_RUN_MISMATCH` for one of another run */
async function requireOfRun(
  { admissionRequests, attempts }: RunsContext,
  runId: string,
  rootReservationId: string,
  workspaceId: string,
): Promise<void> {
  const [request, attempt] = await Promise.all([
    admissionRequests.get(rootReservationId),
    attempts.get(rootReservationId),
  ]);
  if (request?.workspaceId !== workspaceId || attempt?.state === 'refused') {
    const message = `No reservation has the id ${rootReservationId}.`;
    throw new AppError('NOT_FOUND', 404, message, { resource: 'reservation', rootReservationId });
  }
  if (request.workflowRunId === runId) return;
  const message = 'The root reservation is not one of this workflow run.';
  throw conflict(message, { rootReservationId, runId }, 'WORKFLOW_RUN_MISMATCH');
}
