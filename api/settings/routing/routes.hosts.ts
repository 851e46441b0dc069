import { z } from 'zod';
import {
  hostDrain,
  hostId,
  hostList,
  hostQuery,
  type HostSummary,
  hostSummary,
} from '../../../contracts/runs/launch/host';
import { hostPreview, hostPreviewRequest } from '../../../contracts/settings/routing';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { slicePage } from '../../../platform/lists/slice';
import type { HostRecord } from '../../../stores/runs/hosts/host-store';
import type { ApiContext } from '../../context';
import { previewHosts } from './route';

const tag = 'routing';
const params = z.strictObject({ hostId });
const manage = {
  tag,
  permission: 'admin:manage',
  onHosts: true,
  params,
  response: hostSummary,
} as const;

/** The machines that execute runs: what they have and lack, and whether they take new ones. */
export function hostRoutes(routes: Routes, context: ApiContext): void {
  const { hosts } = context.routing;

  const present = (host: HostRecord): HostSummary => {
    const { _id, hostname, seenAt, reservedRuns = 0, drain } = host;
    return {
      ...{ hostId: _id, hostname, seenAt, findings: hosts.findingsOn(host), reservedRuns },
      workers: hosts.liveWorkersOf(host).map(({ workerId, seenAt: at, capacity, draining, ...release }) => ({
        ...{ workerId, seenAt: at, runs: capacity.runs, draining },
        ...{ version: release.version ?? null, buildId: release.buildId ?? null },
      })),
      drain: drain ?? null,
    };
  };

  routes.add(
    {
      method: 'get',
      path: '/agents/hosts',
      operationId: 'listHosts',
      summary: 'List hosts with a live worker',
      tag,
      permission: 'agent:read',
      query: hostQuery,
      response: hostList,
    },
    async ({ query }) => {
      const page = slicePage(await hosts.everyLive(), query, { positionOf: ({ _id: id }) => ({ key: id, id }) });
      return page.answer({ hosts: page.items.map(present) });
    },
  );

  routes.add(
    {
      ...manage,
      method: 'post',
      path: '/agents/hosts/:hostId/drain',
      operationId: 'drainHost',
      summary: 'Drain a host: it takes no new runs, and those it has continue',
      body: hostDrain,
      audit: ({ params: { hostId: id }, body: { reason } }) => ({
        action: 'host.drain',
        resource: id,
        details: { reason: reason ?? null },
      }),
    },
    async ({ params: { hostId: id }, body: { reason = null }, auth }) => {
      const host = await hosts.drain(id, { by: auth.actor, reason });
      assertFound(host, 'host', id);
      return present(host);
    },
  );

  routes.add(
    {
      ...manage,
      method: 'post',
      path: '/agents/hosts/:hostId/resume',
      operationId: 'resumeHost',
      summary: 'Resume a drained host: it takes new runs',
      audit: ({ params: { hostId: id } }) => ({ action: 'host.resume', resource: id }),
    },
    async ({ params: { hostId: id } }) => {
      const host = await hosts.resume(id);
      assertFound(host, 'host', id);
      return present(host);
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/agents/hosts/preview',
      operationId: 'previewHosts',
      summary: 'Compare what each live host can run, with the reasons it cannot',
      tag,
      permission: 'agent:read',
      body: hostPreviewRequest,
      response: hostPreview,
    },
    ({ body }) => previewHosts(context, body.requiredRuntimeCapabilities ?? []),
  );
}
