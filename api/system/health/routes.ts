import { z } from 'zod';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { serviceVersion } from '../../version';
import { createReadiness } from './readiness';

const tag = 'health';

const liveness = z.object({ status: z.literal('ok'), timestamp: z.iso.datetime() }).meta({ id: 'Liveness' });

const readiness = z
  .object({
    status: z.enum(['ok', 'unavailable']),
    checks: z.record(z.string(), z.enum(['ok', 'failed'])),
    timestamp: z.iso.datetime(),
  })
  .meta({ id: 'Readiness' });

const serviceHealth = z
  .object({
    ok: z.literal(true),
    service: z.string(),
    version: z.string(),
    uptimeMs: z.number().int(),
    timestamp: z.iso.datetime(),
  })
  .meta({ id: 'ServiceHealth' });

/** Probes come with whatever a load balancer adds to them. */
const anyQuery = z.looseObject({});

const probe = { method: 'get', mount: 'root', tag, permission: 'public', query: anyQuery } as const;

/** Probes for the operator: alive (the process responds) and ready (its dependencies respond too). */
export function healthRoutes(routes: Routes, { checks, log, startedAt }: ApiContext): void {
  const ready = createReadiness(checks, log);
  const alive = async () => ({ status: 'ok' as const, timestamp: new Date().toISOString() });

  routes.add(
    {
      ...probe,
      path: '/health',
      operationId: 'getHealth',
      summary: 'Check that the process responds',
      response: liveness,
    },
    alive,
  );
  routes.add(
    {
      ...probe,
      path: '/health/live',
      operationId: 'getLiveness',
      summary: 'Check that the process responds',
      response: liveness,
    },
    alive,
  );
  routes.add(
    {
      ...probe,
      path: '/health/ready',
      operationId: 'getReadiness',
      summary: 'Check whether requests can be served: 503 if a check fails',
      response: readiness,
    },
    async (_input, ctx) => {
      const answer = await ready();
      if (answer.status !== 'ok') {
        ctx.status = 503;
      }
      return answer;
    },
  );
  routes.add(
    {
      method: 'get',
      path: '/health',
      operationId: 'getServiceHealth',
      summary: 'Read the version and uptime of this process',
      tag,
      permission: 'public',
      query: anyQuery,
      response: serviceHealth,
    },
    async () => ({
      ok: true as const,
      service: 'runboard',
      version: serviceVersion,
      uptimeMs: Date.now() - startedAt.getTime(),
      timestamp: new Date().toISOString(),
    }),
  );
}
