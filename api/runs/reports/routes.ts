import { completionReceived } from '../../../contracts/runs/attempt';
import { callbackSecretHeader, renewedCallback } from '../../../contracts/runs/callback-secret';
import { completionCallback } from '../../../contracts/runs/completion';
import { tokenReport, tokenReportResponse } from '../../../contracts/system/telemetry';
import { presentedIdempotencyKey } from '../../../platform/http/limits/idempotency';
import type { Routes } from '../../../platform/http/routing/routes';
import type { WorkflowContext } from '../../context';
import { attemptParams, taskParams } from '../attempts/parameters';
import { renewCallbackSecret, secretOf } from './callback-secret';
import { completeRun } from './complete';
import { reportTokens } from './tokens';

const tag = 'runs';

/** What agents report of their own runs, and the secret by which one elsewhere proves itself. */
export function reportRoutes(routes: Routes, context: WorkflowContext): void {
  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/complete',
      operationId: 'completeRun',
      summary: 'Complete a run of a remote agent',
      tag,
      permission: 'task:write',
      params: taskParams,
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
      completeRun(context, params.taskId, {
        body,
        reporter: {
          auth,
          secret: secretOf(body.callbackSecret, header(callbackSecretHeader)),
        },
      }),
  );

  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/tokens',
      operationId: 'reportRunTokens',
      idempotency: 'own',
      summary: 'Report the token usage of an attempt',
      tag,
      permission: 'task:write',
      params: taskParams,
      body: tokenReport,
      response: tokenReportResponse,
      status: 201,
      errors: [404, 409],
    },
    ({ params, body, auth, header }) =>
      reportTokens(context, params.taskId, {
        body,
        headerKey: presentedIdempotencyKey(header),
        reporter: {
          auth,
          secret: secretOf(body.callbackSecret, header(callbackSecretHeader)),
        },
      }),
  );

  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/attempts/:attemptId/callback-secret',
      operationId: 'renewCallbackSecret',
      // A secret is returned once and stored nowhere: a repetition makes another one.
      idempotency: 'none',
      summary: 'Issue a new callback secret for an attempt of a remote agent',
      tag,
      permission: 'agent:write',
      params: attemptParams,
      response: renewedCallback,
      status: 201,
      errors: [404, 409],
      audit: ({ params }) => ({ action: 'run.renew-callback-secret', resource: params.attemptId }),
    },
    ({ params, auth }) =>
      renewCallbackSecret(context, { taskId: params.taskId, attemptId: params.attemptId, actor: auth.actor }),
  );
}
