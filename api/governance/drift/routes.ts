import { z } from 'zod';
import {
  driftAcknowledge,
  driftAlert,
  driftAlertId,
  driftAlertQuery,
  driftAnalyze,
  driftBaseline,
  driftBaselineQuery,
  driftMetric,
  driftReset,
  driftSummary,
} from '../../../contracts/governance/drift';
import type { SwitchableFeature } from '../../../contracts/settings/settings';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { analyze } from './analyze';

const tag = 'drift';
const setting: SwitchableFeature = 'analyticsEnabled';
const read = { method: 'get' as const, tag, setting, permission: 'telemetry:read' };
const write = { method: 'post' as const, tag, setting, permission: 'telemetry:write' };

/** One of the two names is there: the contract requires it. */
const agentOf = ({ agent, agentId }: { agent?: string | undefined; agentId?: string | undefined }): string =>
  agent ?? agentId ?? '';

/** Whether agents deviate from their earlier behaviour (specification 2, Policies and governance). */
export function driftRoutes(routes: Routes, { drift, telemetry }: Pick<ApiContext, 'drift' | 'telemetry'>): void {
  routes.add(
    {
      ...read,
      path: '/drift/alerts',
      operationId: 'listDriftAlerts',
      summary: 'List drift alerts, newest first',
      query: driftAlertQuery,
      response: z.array(driftAlert),
    },
    ({ query }) => drift.alerts(query),
  );

  routes.add(
    {
      ...write,
      path: '/drift/alerts/:id/acknowledge',
      operationId: 'acknowledgeDriftAlert',
      summary: 'Acknowledge a drift alert; the first acknowledgement is final',
      params: z.strictObject({ id: driftAlertId }),
      body: driftAcknowledge,
      response: driftAlert,
      audit: ({ params }) => ({ action: 'drift-alert.acknowledge', resource: params.id }),
    },
    async ({ params: { id }, body, auth }) => {
      const acknowledgement = { acknowledgedBy: auth.actor, acknowledgedAt: new Date().toISOString() };
      const alert = await drift.acknowledge(id, { ...acknowledgement, notes: body.notes });
      assertFound(alert, 'drift alert', id);
      return alert;
    },
  );

  routes.add(
    {
      ...read,
      path: '/drift/baselines',
      operationId: 'listDriftBaselines',
      summary: 'List drift baselines by agent and metric',
      query: driftBaselineQuery,
      response: z.array(driftBaseline),
    },
    ({ query }) => drift.baselines(query),
  );

  routes.add(
    {
      ...write,
      path: '/drift/baselines/reset',
      operationId: 'resetDriftBaseline',
      summary: 'Reset drift baselines of an agent, for one metric or all',
      body: driftReset,
      response: z.array(driftBaseline),
      audit: ({ body }) => ({
        action: 'drift-baseline.reset',
        resource: agentOf(body),
        details: body.metric && { metric: body.metric },
      }),
    },
    async ({ body }) => {
      const at = new Date().toISOString();
      const metrics = body.metric === undefined ? driftMetric.options : [body.metric];
      return Promise.all(metrics.map((metric) => drift.reset(agentOf(body), metric, at)));
    },
  );

  routes.add(
    {
      ...write,
      path: '/drift/analyze',
      operationId: 'analyzeDrift',
      summary: 'Analyze recent runs of an agent against its baselines and raise alerts',
      body: driftAnalyze,
      response: driftSummary,
    },
    async ({ body }) => {
      const agent = agentOf(body);
      const now = new Date();
      return { agent, analyzedAt: now.toISOString(), ...(await analyze({ drift, telemetry }, agent, now)) };
    },
  );
}
