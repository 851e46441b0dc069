import { callbackSecretHeader } from '../../contracts/callback-secret';
import { completionReceived, runStatus, stopAnswer, stopRequest } from '../../contracts/attempt';
import { completionCallback } from '../../contracts/completion';
import { launchAnswer, launchRequest } from '../../contracts/launch';
import { launchPreview } from '../../contracts/launch-manifest';
import { runEventPage, runEventQuery } from '../../contracts/run-event';
import type { Routes } from '../../platform/http/routes';
import { presentedIdempotencyKey } from '../../platform/http/idempotency';
import { attemptOfTask, verifiedAttempt } from './attempt';
import { attemptRoutes } from './attempts';
import { callbackSecretRoutes, secretOf } from './callback-secret';
import { completeRun } from './complete';
import type { RunsContext } from './context';
import { eventPage } from './event-page';
import { launchRun, previewRun } from './launch';
import { commandRoutes } from './commands';
import { conversationRoutes } from './conversation';
import { ofAttempt, ofTask } from './parameters';
import { recoveryRoutes } from './recovery';
import { runReportRoutes } from './routes.reports';
import { readStatus } from './status';
import { stopRun } from './stop';
import { workflowStepRoutes } from './workflow-step';

const tag = 'runs';

/** Launching, watching and ending the runs of a task. */
export function runRoutes(routes: Routes, context: RunsContext): void {
  attemptRoutes(routes, context);
  callbackSecretRoutes(routes, context);
  commandRoutes(routes, context);
  conversationRoutes(routes, context);
  recoveryRoutes(routes, context);
  runReportRoutes(routes, context);
  workflowStepRoutes(routes, context);

  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/launch-preview',
      operationId: 'previewRun',
      summary: 'Compile what a start would run, without starting it',
      tag,
      permission: 'agent:write',
      params: ofTask,
      body: launchRequest,
      response: launchPreview,
      errors: [404, 409, 503],
    },
    ({ params, body, auth }) => previewRun(context, params.taskId, body, auth.workspaceId),
  );

  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/start',
      operationId: 'startRun',
      idempotency: 'own',
      summary: 'Start a run of an agent on the task, or queue it',
      tag,
      permission: 'agent:write',
      params: ofTask,
      body: launchRequest,
      response: launchAnswer,
      status: 201,
      errors: [404, 409, 503],
    },
    ({ params, body, auth, header }) =>
      launchRun(context, params.taskId, body, {
        actor: auth.actor,
        workspaceId: auth.workspaceId,
        headerKey: presentedIdempotencyKey(header),
      }),
  );

  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/status',
      operationId: 'getRunStatus',
      summary: 'Read the latest attempt, its contract and its controls',
      tag,
      permission: 'agent:read',
      params: ofTask,
      response: runStatus,
      errors: [404],
    },
    ({ params }) => readStatus(context, params.taskId),
  );

  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/stop',
      operationId: 'stopRun',
      summary: 'Stop exactly this attempt and wait for its recorded end',
      tag,
      permission: 'agent:write',
      params: ofTask,
      body: stopRequest,
      response: stopAnswer,
      errors: [404, 409, 503],
    },
    async ({ params, body, auth }) =>
      stopRun(context, await verifiedAttempt(context, params.taskId, body.attemptId), auth.actor),
  );

  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/complete',
      operationId: 'completeRun',
      summary: 'Report the end of a run by an agent elsewhere',
      tag,
      permission: 'task:write',
      params: ofTask,
      body: completionCallback,
      response: completionReceived,
      errors: [404, 409, 503],
      // Without the secret only an administrator succeeds.
      audit: ({ body, header }) =>
        (body.callbackSecret ?? header(callbackSecretHeader)) === undefined
          ? { action: 'run.complete', resource: body.attemptId, details: { proof: 'admin:manage' } }
          : undefined,
    },
    ({ params, body, auth, header }) =>
      completeRun(context, params.taskId, body, {
        auth,
        secret: secretOf(body.callbackSecret, header(callbackSecretHeader)),
      }),
  );

  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/attempts/:attemptId/events',
      operationId: 'listRunEvents',
      summary: 'Replay the events of an attempt after a sequence',
      tag,
      permission: 'agent:read',
      params: ofAttempt,
      query: runEventQuery,
      response: runEventPage,
      errors: [404],
    },
    async ({ params, query }, ctx) =>
      eventPage(context, await attemptOfTask(context, params.taskId, params.attemptId), query, ctx),
  );
}
