import { z } from 'zod';
import {
  type FreshnessAlert,
  freshnessAlert,
  freshnessAlertId,
  freshnessAlertQuery,
  freshnessSummary,
} from '../../../contracts/knowledge/document';
import { assertFound, notFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { slicePage } from '../../../platform/lists/slice';
import { ownFields } from '../../../stores/port/configured-records';
import type { ApiContext } from '../../context';
import { alertIdOf, alertOf, documentOfAlert } from './freshness';

const tag = 'doc-freshness';
const read = { method: 'get' as const, tag, permission: 'settings:read' };

/**
 * Which documents are stale. Only the acknowledgement of an alert is stored: whether there is one follows from the last review
 * at the time of the request.
 */
export function freshnessAlertRoutes(routes: Routes, { trackedDocuments }: Pick<ApiContext, 'trackedDocuments'>): void {
  async function alerts(now: Date): Promise<FreshnessAlert[]> {
    return (await trackedDocuments.list()).flatMap((record) => alertOf(record, now) ?? []);
  }

  routes.add(
    {
      ...read,
      path: '/doc-freshness/alerts',
      operationId: 'listFreshnessAlerts',
      summary: 'List stale documents, longest stale first',
      query: freshnessAlertQuery,
      response: z.array(freshnessAlert),
    },
    async ({ query: { severity, acknowledged, ...part } }) => {
      const matching = (await alerts(new Date())).filter(
        (one) =>
          (severity === undefined || one.severity === severity) &&
          (acknowledged === undefined || one.acknowledged === acknowledged),
      );
      return slicePage(matching, part, { positionOf: ({ staleSince, id }) => ({ key: staleSince, id }) });
    },
  );

  routes.add(
    {
      ...read,
      path: '/doc-freshness/summary',
      operationId: 'getFreshnessSummary',
      summary: 'Count fresh and stale documents',
      response: freshnessSummary,
    },
    async () => {
      const total = (await trackedDocuments.list()).length;
      const current = await alerts(new Date());
      const critical = current.filter(({ severity }) => severity === 'critical').length;
      return {
        total,
        fresh: Math.max(0, total - current.length),
        stale: current.length - critical,
        critical,
        alertCount: current.filter(({ acknowledged }) => !acknowledged).length,
      };
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/doc-freshness/alerts/:id/acknowledge',
      operationId: 'acknowledgeFreshnessAlert',
      summary: 'Acknowledge a stale document until its next review',
      tag,
      permission: 'settings:write',
      params: z.strictObject({ id: freshnessAlertId }),
      body: z.strictObject({}),
      response: freshnessAlert,
      errors: [409],
    },
    async ({ params: { id }, auth }) => {
      const now = new Date();
      const changed = await trackedDocuments.change(documentOfAlert(id), (current) => {
        const alert = current && alertIdOf(current) === id ? alertOf(current, now) : undefined;
        if (!current || !alert) {
          throw notFound('alert', id);
        }
        const fields = ownFields(current);
        // The first acknowledgement of an alert stands.
        if (alert.acknowledged) {
          return fields;
        }
        return { ...fields, acknowledged: { reviewedAt: fields.reviewedAt, by: auth.actor, at: now.toISOString() } };
      });
      const acknowledged = alertOf(changed, now);
      assertFound(acknowledged, 'alert', id);
      return acknowledged;
    },
  );
}
