import { z } from 'zod';
import {
  controlRequest,
  pendingQuery,
  queueInspection,
  queueList,
  type QueueQuery,
  queueQuery,
  reservation,
  reservationList,
  reservationQuery,
  treeQuery,
  treeSummary,
} from '../../../contracts/runs/admission';
import { hostKey } from '../../../domain/admission/capacity';
import { assertFound } from '../../../platform/errors/app-error';
import type { HttpContext } from '../../../platform/http/context';
import { entityTag } from '../../../platform/http/limits/precondition';
import { answersNotModified } from '../../../platform/http/response';
import type { Routes } from '../../../platform/http/routing/routes';
import { digestOf } from '../../../platform/json/digest';
import type { AdmissionContext } from './context';
import { presentReservation } from './present';
import { cancelEntry, inspectEntry, listQueue } from './queue';
import { cancelTree, resumeTree } from './tree';
import { summarise } from './tree-summary';

const tag = 'admission';
const idParams = z.strictObject({ id: z.string().min(1).max(200) });
const byTree = z.strictObject({ rootObjectiveId: z.string().min(1).max(200) });
/** Those of an entry whose agent has not been started. */
const pendingStates = ['queued', 'leased', 'requeued'] as const;
const defaultContributors = 50;

/** Responds unless the caller has the same already; the time of a response does not make it another one. */
function conditional<T extends { generatedAt: string }>(ctx: HttpContext, answer: T, version: unknown): T | undefined {
  return answersNotModified(ctx, `W/"${digestOf(version).slice(7, 39)}"`) ? undefined : answer;
}

/** Hosts are shown hashed, and may be filtered that way or by name. */
const hostFilter = (hostId: string | undefined): string | undefined =>
  hostId === undefined || /^host_[0-9a-f]{24}$/.test(hostId) ? hostId : hostKey(hostId);

/** The runs, the queue, and the reasons to wait: inspection, and the few commands to the queue and to trees. */
export function admissionRoutes(routes: Routes, context: AdmissionContext): void {
  const respondWithQueue = async (query: QueueQuery, ctx: HttpContext) => {
    const { list, page } = await listQueue(context, query);
    const seen = list.entries.map(({ id, revision, effectivePriority, readiness }) => [
      id,
      revision,
      effectivePriority,
      readiness,
    ]);
    const answer = conditional(ctx, list, { query, seen, depth: list.depth, pagination: list.pagination });
    return answer && page.answer(answer);
  };

  routes.add(
    {
      method: 'get',
      path: '/admission',
      operationId: 'listReservations',
      summary: 'List capacity reservations, newest first',
      tag,
      permission: 'agent:read',
      query: reservationQuery,
      response: reservationList,
      status: 200,
    },
    async ({ query }, ctx) => {
      const { state: states, hostId, limit, cursor, ...filter } = query;
      const narrowed = { ...filter, hostKey: hostFilter(hostId), states };
      const page = (await context.reservations.list(narrowed, { limit, cursor })).map(presentReservation);
      const reservations = page.items;
      const answer = conditional(ctx, { generatedAt: context.now().toISOString(), reservations }, [
        reservations,
        page.next,
      ]);
      return answer && page.answer(answer);
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/admission/queue',
      operationId: 'listAdmissionQueue',
      summary: 'List queued launches, oldest first',
      tag,
      permission: 'agent:read',
      query: queueQuery,
      response: queueList,
    },
    async ({ query }, ctx) => respondWithQueue(query, ctx),
  );

  routes.add(
    {
      method: 'get',
      path: '/agents/pending',
      operationId: 'listPendingLaunches',
      summary: 'List launches whose agent has not been started yet, oldest first',
      tag,
      permission: 'agent:read',
      query: pendingQuery,
      response: queueList,
    },
    async ({ query }, ctx) => respondWithQueue({ ...query, state: [...pendingStates] }, ctx),
  );

  routes.add(
    {
      method: 'get',
      path: '/admission/queue/:id',
      operationId: 'inspectQueueEntry',
      summary: 'Read a queued launch: readiness, limits and selection',
      tag,
      permission: 'agent:read',
      params: idParams,
      response: queueInspection,
      errors: [404],
    },
    async ({ params }, ctx) => {
      const inspection = await inspectEntry(context, params.id);
      const { id, revision, effectivePriority, readiness } = inspection.entry;
      return conditional(ctx, inspection, [id, revision, effectivePriority, readiness]);
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/admission/queue/:id/cancel',
      operationId: 'cancelQueueEntry',
      localAgent: true,
      summary: 'Cancel a queued launch',
      tag,
      permission: 'admin:manage',
      params: idParams,
      body: controlRequest,
      response: queueInspection,
      errors: [404, 409, 503],
      audit: ({ params, body }) => ({
        action: 'admission-queue.cancel',
        resource: params.id,
        details: { reason: body.reason },
      }),
    },
    ({ params, body, auth }) => cancelEntry(context, params.id, { ...body, actor: auth.actor }),
  );

  routes.add(
    {
      method: 'get',
      path: '/admission/tree/:rootObjectiveId',
      operationId: 'getExecutionTree',
      summary: 'Read usage, reservations and limits of an execution tree',
      tag,
      permission: 'agent:read',
      params: byTree,
      query: treeQuery,
      response: treeSummary,
      errors: [404],
    },
    async ({ params, query }, ctx) => {
      const { summary, page } = await summarise(context, params.rootObjectiveId, query);
      const { generatedAt: _at, ...version } = summary;
      const answer = conditional(ctx, summary, version);
      return answer && page.answer(answer);
    },
  );

  for (const [action, summary, act] of [
    ['cancel', 'Cancel an execution tree with its queued and running launches', cancelTree],
    ['resume', 'Resume a paused execution tree', resumeTree],
  ] as const) {
    routes.add(
      {
        method: 'post',
        path: `/admission/tree/:rootObjectiveId/${action}`,
        operationId: `${action}ExecutionTree`,
        localAgent: true,
        summary,
        tag,
        permission: 'admin:manage',
        params: byTree,
        body: controlRequest,
        response: treeSummary,
        errors: [404, 409, 503],
        audit: ({ params, body }) => ({
          action: `execution-tree.${action}`,
          resource: params.rootObjectiveId,
          details: { reason: body.reason },
        }),
      },
      ({ params, body, auth }) =>
        act(context, params.rootObjectiveId, { ...body, actor: auth.actor, limit: defaultContributors }),
    );
  }

  routes.add(
    {
      method: 'get',
      path: '/admission/:id',
      operationId: 'getReservation',
      summary: 'Read a reservation',
      tag,
      permission: 'agent:read',
      params: idParams,
      response: reservation,
      errors: [404],
    },
    async ({ params }, ctx) => {
      const record = await context.reservations.get(params.id);
      assertFound(record, 'reservation', params.id);
      const etag = entityTag({ type: 'admission', id: record._id, revision: record.revision });
      // Its lease is renewed without a new revision.
      const unchanged = answersNotModified(ctx, `W/${etag.slice(0, -1)}:${record.heartbeatAt}"`);
      return unchanged ? undefined : presentReservation(record);
    },
  );
}
