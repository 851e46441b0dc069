import { stopRequest, stopResponse } from '../../../contracts/runs/attempt';
import { commandResponse, commandTarget, messageRequest, steerRequest } from '../../../contracts/runs/command';
import { presentedIdempotencyKey } from '../../../platform/http/limits/idempotency';
import type { Routes } from '../../../platform/http/routing/routes';
import type { WorkflowContext } from '../../context';
import { verifiedAttempt } from '../attempts/attempt';
import { taskParams } from '../attempts/parameters';
import { sendCommand } from './commands';
import { stopRun } from './stop';

const conversation = (verb: string) => `/agents/:taskId/conversation/${verb}`;

const common = {
  method: 'post' as const,
  idempotency: 'own' as const,
  tag: 'runs',
  permission: 'task:write',
  localAgent: true as const,
  params: taskParams,
  response: commandResponse,
  errors: [404, 409, 503],
};

/** Commands to an active run, and its stop. */
export function controlRoutes(routes: Routes, context: WorkflowContext): void {
  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/stop',
      operationId: 'stopRun',
      localAgent: true,
      summary: 'Stop an attempt and wait for its recorded end',
      tag: common.tag,
      permission: 'agent:write',
      params: taskParams,
      body: stopRequest,
      response: stopResponse,
      errors: [404, 409, 503],
    },
    async ({ params, body, auth }) =>
      stopRun(
        context,
        await verifiedAttempt(context, { taskId: params.taskId, attemptId: body.attemptId }),
        auth.actor,
      ),
  );

  routes.add(
    {
      ...common,
      path: '/agents/:taskId/message',
      operationId: 'messageRun',
      summary: 'Send a message to the agent of an attempt; undeliverable messages are recorded',
      body: messageRequest,
    },
    ({ params, body, auth, header }) =>
      sendCommand(context, params.taskId, {
        type: 'message',
        request: body,
        caller: { auth, headerKey: presentedIdempotencyKey(header) },
      }),
  );
  routes.add(
    {
      ...common,
      path: conversation('steer'),
      operationId: 'steerRun',
      summary: 'Steer the agent with a message it reads immediately',
      body: steerRequest,
    },
    ({ params, body, auth, header }) =>
      sendCommand(context, params.taskId, {
        type: 'steer',
        request: body,
        caller: { auth, headerKey: presentedIdempotencyKey(header) },
      }),
  );
  const messagelessCommands = [
    ['interrupt', 'interruptRun', 'Interrupt the current turn of the agent'],
    ['compact', 'compactConversation', 'Compact the conversation of a run'],
    ['archive', 'archiveConversation', 'Archive the conversation of a run'],
    ['close', 'closeConversation', 'Close the conversation of a run'],
  ] as const;
  for (const [type, operationId, summary] of messagelessCommands) {
    routes.add(
      { ...common, path: conversation(type), operationId, summary, body: commandTarget },
      ({ params, body, auth, header }) =>
        sendCommand(context, params.taskId, {
          type,
          request: body,
          caller: { auth, headerKey: presentedIdempotencyKey(header) },
        }),
    );
  }
}
