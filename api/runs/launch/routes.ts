import { launchRequest, launchResponse, workflowStepLaunch } from '../../../contracts/runs/launch/launch';
import { launchPreview } from '../../../contracts/runs/launch/manifest';
import { presentedIdempotencyKey } from '../../../platform/http/limits/idempotency';
import type { Routes } from '../../../platform/http/routing/routes';
import type { WorkflowContext } from '../../context';
import { taskParams, workflowStepParams } from '../attempts/parameters';
import { launchRun, previewRun } from './launch';
import { startStep } from './workflow-step';

const tag = 'runs';

/** Starts of runs: on a task, or for a step of a workflow run. */
export function launchRoutes(routes: Routes, context: WorkflowContext): void {
  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/launch-preview',
      operationId: 'previewRun',
      summary: 'Preview a launch without starting it',
      tag,
      permission: 'agent:write',
      params: taskParams,
      body: launchRequest,
      response: launchPreview,
      errors: [404, 409, 503],
    },
    ({ params, body, auth }) =>
      previewRun(context, params.taskId, { body, workspaceId: auth.workspaceId, actor: auth.actor }),
  );

  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/start',
      operationId: 'startRun',
      localAgent: true,
      idempotency: 'own',
      summary: 'Start or queue a run of an agent on a task',
      tag,
      permission: 'agent:write',
      params: taskParams,
      body: launchRequest,
      response: launchResponse,
      status: 201,
      errors: [404, 409, 503],
    },
    ({ params, body, auth, header }) =>
      launchRun(context, params.taskId, {
        body,
        caller: {
          actor: auth.actor,
          workspaceId: auth.workspaceId,
          headerKey: presentedIdempotencyKey(header),
        },
      }),
  );

  routes.add(
    {
      method: 'post',
      path: '/workflows/runs/:runId/steps/:stepId/start',
      operationId: 'startWorkflowStep',
      localAgent: true,
      idempotency: 'own',
      summary: 'Start or queue a run for a step of a workflow run',
      tag: 'workflows',
      permission: 'agent:write',
      params: workflowStepParams,
      body: workflowStepLaunch,
      response: launchResponse,
      status: 201,
      errors: [404, 409, 503],
    },
    ({ params, body, auth, header }) =>
      startStep(context, params, {
        launch: body,
        caller: {
          actor: auth.actor,
          workspaceId: auth.workspaceId,
          headerKey: presentedIdempotencyKey(header),
        },
      }),
  );
}
