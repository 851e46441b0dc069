import type { LaunchOrigin } from '../../../contracts/runs/admission';
import type { LaunchResponse, WorkflowStepLaunch } from '../../../contracts/runs/launch/launch';
import { AppError, conflict } from '../../../platform/errors/app-error';
import type { WorkflowContext } from '../../context';
import { type LaunchCaller, launchRun } from './launch';

/** Starts a run for a step of a workflow run: the permission to start a run includes this. */
export async function startStep(
  context: WorkflowContext,
  step: { runId: string; stepId: string },
  { launch: { taskId, rootReservationId, ...request }, caller }: { launch: WorkflowStepLaunch; caller: LaunchCaller },
): Promise<LaunchResponse> {
  if (rootReservationId === undefined) {
    return launchRun(context, taskId, { body: request, caller, from: { origin: originOf(step) } });
  }
  await requireOfRun(context, { runId: step.runId, rootReservationId, workspaceId: caller.workspaceId });
  return launchRun(context, taskId, {
    body: request,
    caller,
    from: { origin: originOf({ ...step, rootReservationId }) },
  });
}

/** The first launch of a run is the root of a tree; what names its reservation descends from it. */
function originOf(workflow: { runId: string; stepId: string; rootReservationId?: string }): LaunchOrigin {
  const { rootReservationId } = workflow;
  if (rootReservationId === undefined) {
    return { source: 'workflow', edge: 'root', workflow };
  }
  return { source: 'workflow', edge: 'workflow-step', parentAttemptId: rootReservationId, workflow };
}

/** @throws AppError 404 for a launch that is not in the workspace, 409 `WORKFLOW_RUN_MISMATCH` for one of another run */
async function requireOfRun(
  { admissionRequests, attempts }: WorkflowContext,
  { runId, rootReservationId, workspaceId }: { runId: string; rootReservationId: string; workspaceId: string },
): Promise<void> {
  const [request, attempt] = await Promise.all([
    admissionRequests.get(rootReservationId),
    attempts.get(rootReservationId),
  ]);
  if (request?.workspaceId !== workspaceId || attempt?.state === 'refused') {
    const message = `No reservation has the id ${rootReservationId}.`;
    throw new AppError('NOT_FOUND', { status: 404, message, details: { resource: 'reservation', rootReservationId } });
  }
  if (request.workflowRunId === runId) {
    return;
  }
  const message = 'The root reservation does not belong to this workflow run.';
  throw conflict(message, { rootReservationId, runId }, 'WORKFLOW_RUN_MISMATCH');
}
