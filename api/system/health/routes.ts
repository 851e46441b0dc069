import { z } from 'zod';
import {
  deepHealth,
  liveness,
  type PartStatus,
  readiness,
  serviceHealth,
  systemHealth,
} from '../../../contracts/system/health';
import type { HttpContext } from '../../../platform/http/context';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { serviceVersion } from '../../version';
import { createHealthReport, type HealthReport } from './report';
import { runChecks } from './run-checks';

const tag = 'health';

/** Probes come with whatever a load balancer adds to them. */
const anyQuery = z.looseObject({});

const probe = { method: 'get', mount: 'root', tag, permission: 'public', query: anyQuery } as const;
const deep = {
  method: 'get',
  tag,
  permission: 'admin:manage',
  summary: 'Check every part and read its facts: 503 if one fails',
  response: deepHealth,
} as const;

const statusesOf = ({ parts }: HealthReport): PartStatus[] => Object.values(parts).map(({ status }) => status);

/** The worst of the parts, for a response that is 503 when one has failed. */
function setOverall(ctx: HttpContext, report: HealthReport): 'ok' | 'warning' | 'degraded' {
  const statuses = statusesOf(report);
  if (statuses.includes('failed')) {
    ctx.status = 503;
    return 'degraded';
  }
  return statuses.includes('warning') ? 'warning' : 'ok';
}

/** Probes for the operator: alive (the process responds), ready (its dependencies respond too), and every part with its facts. */
export function healthRoutes(routes: Routes, context: ApiContext): void {
  const { checks, log, startedAt, watchers } = context;
  const readReadiness = createHealthReport(checks, log);
  const readEverything = createHealthReport({ ...checks, ...runChecks(context) }, log);
  const alive = async () => ({ status: 'ok' as const, timestamp: new Date().toISOString() });
  const uptimeMs = () => Date.now() - startedAt.getTime();

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
      const report = await readReadiness();
      const isReady = !statusesOf(report).includes('failed');
      if (!isReady) {
        ctx.status = 503;
      }
      const results = Object.entries(report.parts).map(([name, { status }]): [string, 'ok' | 'failed'] => [
        name,
        status === 'failed' ? 'failed' : 'ok',
      ]);
      return {
        status: isReady ? ('ok' as const) : ('unavailable' as const),
        checks: Object.fromEntries(results),
        timestamp: report.timestamp,
      };
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
      uptimeMs: uptimeMs(),
      timestamp: new Date().toISOString(),
    }),
  );

  const readDeep = async (_input: unknown, ctx: HttpContext): Promise<z.output<typeof deepHealth>> => {
    const report = await readEverything();
    return {
      status: setOverall(ctx, report),
      service: 'runboard',
      version: serviceVersion,
      nodeVersion: process.version,
      startedAt: startedAt.toISOString(),
      uptimeMs: uptimeMs(),
      timestamp: report.timestamp,
      webSocket: watchers.count(),
      parts: deepHealth.shape.parts.parse(report.parts),
    };
  };
  routes.add(
    { ...deep, mount: 'root', path: '/health/deep', operationId: 'getDeepHealthOfProbe', query: anyQuery },
    readDeep,
  );
  routes.add({ ...deep, path: '/health/deep', operationId: 'getDeepHealth' }, readDeep);

  routes.add(
    {
      method: 'get',
      path: '/system/health',
      operationId: 'getSystemHealth',
      summary: 'Read the status of every part of the system: 503 if one fails',
      tag,
      permission: 'workspace:read',
      response: systemHealth,
    },
    async (_input, ctx) => {
      const report = await readEverything();
      const statuses = Object.entries(report.parts).map(([name, { status }]): [string, PartStatus] => [name, status]);
      return { status: setOverall(ctx, report), parts: Object.fromEntries(statuses), timestamp: report.timestamp };
    },
  );
}
