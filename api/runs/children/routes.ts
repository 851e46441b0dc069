import { z } from 'zod';
import { attemptId } from '../../../contracts/common';
import { stopResponse } from '../../../contracts/runs/attempt';
import { childrenPermission } from '../../../contracts/runs/attempt-handle';
import { childLaunch, type RunChild, runChild } from '../../../contracts/runs/child';
import { runEventPage, runEventQuery } from '../../../contracts/runs/event';
import { launchResponse } from '../../../contracts/runs/launch/launch';
import type { AdmissionRequest } from '../../../domain/admission/request';
import { presentedIdempotencyKey } from '../../../platform/http/limits/idempotency';
import type { Routes } from '../../../platform/http/routing/routes';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { WorkflowContext } from '../../context';
import { stopRun } from '../control/stop';
import { eventPage } from '../events/event-page';
import { launchRun } from '../launch/launch';
import { ancestorOf, descendantOf } from './descendant';

const common = {
  tag: 'run-children',
  permission: childrenPermission,
  credential: 'attempt-handle' as const,
};
const params = z.object({ attemptId });

/** What the agent of an attempt may do with its handle: launch children, follow its descendants and stop them. */
export function runChildRoutes(routes: Routes, context: WorkflowContext): void {
  routes.add(
    {
      ...common,
      method: 'post',
      path: '/run-children',
      operationId: 'launchRunChild',
      idempotency: 'own',
      summary: 'Launch a child of the attempt on another task',
      body: childLaunch,
      response: launchResponse,
      status: 201,
      errors: [404, 409, 503],
    },
    ({ body: { taskId, ...launch }, auth, header }) =>
      launchRun(context, taskId, {
        body: { ...launch, parentAttemptId: ancestorOf(auth) },
        caller: { actor: auth.actor, workspaceId: auth.workspaceId, headerKey: presentedIdempotencyKey(header) },
      }),
  );

  routes.add(
    {
      ...common,
      method: 'get',
      path: '/run-children/:attemptId',
      operationId: 'getRunChild',
      summary: 'Read a descendant of the attempt',
      params,
      response: runChild,
    },
    async ({ params: { attemptId: id }, auth }) => present(await descendantOf(context, auth, id)),
  );

  routes.add(
    {
      ...common,
      method: 'get',
      path: '/run-children/:attemptId/events',
      operationId: 'listRunChildEvents',
      summary: 'Replay the events of a descendant after a sequence',
      params,
      query: runEventQuery,
      response: runEventPage,
    },
    async ({ params: { attemptId: id }, query, auth }, ctx) =>
      eventPage(context, (await descendantOf(context, auth, id)).record, { query, ctx }),
  );

  routes.add(
    {
      ...common,
      method: 'post',
      path: '/run-children/:attemptId/stop',
      operationId: 'stopRunChild',
      summary: 'Stop a descendant of the attempt and wait for its recorded end',
      params,
      response: stopResponse,
      errors: [409, 503],
    },
    async ({ params: { attemptId: id }, auth }) =>
      stopRun(context, (await descendantOf(context, auth, id)).record, auth.actor),
  );
}

const present = ({ record, request }: { record: AttemptRecord; request: AdmissionRequest }): RunChild => ({
  taskId: record.taskId,
  attemptId: record._id,
  parentAttemptId: request.parentNodeId,
  depth: request.depth,
  agent: record.agent,
  phase: record.phase,
  state: record.state,
  createdAt: record.createdAt,
  startedAt: record.startedAt ?? null,
  endedAt: record.endedAt ?? null,
  status: record.completion?.status ?? null,
  summary: record.completion?.summary ?? null,
});
