import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import type { SwitchableFeature } from '../../../contracts/settings/settings';
import {
  taskTelemetryQuery,
  telemetryBulk,
  telemetryBulkResponse,
  type TelemetryEvent,
  telemetryEvent,
  telemetryExportQuery,
  telemetryFilter,
  telemetryInput,
  telemetryQuery,
  telemetryStatus,
} from '../../../contracts/system/telemetry';
import { cursorAfter, setNextHeaders } from '../../../platform/http/list-response';
import { BytesResponse } from '../../../platform/http/response';
import type { Routes } from '../../../platform/http/routing/routes';
import { offsetOfPage } from '../../../platform/lists/page';
import { toCsv } from '../../../platform/text/csv';
import { telemetryRetentionDays } from '../../../stores/system/telemetry-store';
import type { ApiContext } from '../../context';

const tag = 'telemetry';
const setting: SwitchableFeature = 'analyticsEnabled';
const status = { method: 'get' as const, tag, permission: 'telemetry:read' };
const read = { ...status, setting };
const write = { method: 'post' as const, tag, setting, permission: 'telemetry:write', status: 201 as const };

/** What runs and tasks report about themselves (specification 1, Telemetry and health). */
export function telemetryRoutes(
  routes: Routes,
  { telemetry, settings, workspaceId }: Pick<ApiContext, 'telemetry' | 'settings' | 'workspaceId'>,
): void {
  routes.add(
    {
      ...write,
      path: '/telemetry/events',
      operationId: 'reportTelemetry',
      summary: 'Report an event',
      body: telemetryInput,
      response: telemetryEvent,
    },
    ({ body }) => telemetry.record(body),
  );

  routes.add(
    {
      ...write,
      path: '/telemetry/events/bulk',
      operationId: 'reportTelemetryBulk',
      summary: 'Report up to 500 events',
      body: telemetryBulk,
      response: telemetryBulkResponse,
    },
    async ({ body }) => {
      const ids: string[] = [];
      for (const event of body.events) {
        ids.push((await telemetry.record(event)).id);
      }
      return { recorded: ids.length, ids };
    },
  );

  routes.add(
    {
      ...read,
      path: '/telemetry/events',
      operationId: 'listTelemetry',
      summary: 'List events by type, task, attempt, agent, project and time, newest first',
      query: telemetryQuery,
      response: z.array(telemetryEvent),
    },
    ({ query: { limit, cursor, page, ...filter } }) =>
      telemetry.list(filter, { limit, cursor, offset: offsetOfPage(page, limit) }),
  );

  routes.add(
    {
      ...read,
      path: '/telemetry/events/task/:taskId',
      operationId: 'listTaskTelemetry',
      summary: 'List events of a task, newest first',
      params: z.strictObject({ taskId }),
      query: taskTelemetryQuery,
      response: z.array(telemetryEvent),
    },
    ({ params: { taskId: id }, query: { limit, cursor, page, type } }) =>
      telemetry.list({ taskId: id, type }, { limit, cursor, offset: offsetOfPage(page, limit) }),
  );

  routes.add(
    {
      ...status,
      path: '/telemetry/status',
      operationId: 'getTelemetryStatus',
      summary: 'Read the retention period and the amount of stored telemetry',
      response: telemetryStatus,
    },
    async () => {
      const { byType, latest } = await telemetry.summary();
      const total = Object.values(byType).reduce((sum, count) => sum + count, 0);
      const { analyticsEnabled: enabled } = await settings.current();
      return { enabled, retentionDays: telemetryRetentionDays, total, byType, latest };
    },
  );

  routes.add(
    {
      ...read,
      path: '/telemetry/count',
      operationId: 'countTelemetry',
      summary: 'Count events with the filters of the list',
      query: telemetryFilter,
      response: z.object({ count: z.number().int() }),
    },
    async ({ query }) => ({ count: await telemetry.count(query) }),
  );

  const exportOperation = 'exportTelemetry';
  routes.add(
    {
      ...read,
      path: '/telemetry/export',
      operationId: exportOperation,
      summary: 'Export up to 10,000 events as JSON or CSV',
      query: telemetryExportQuery,
      response: z.array(telemetryEvent),
      otherMediaTypes: ['text/csv'],
    },
    async ({ params, query }, ctx) => {
      const { format, limit, cursor, ...filter } = query;
      const events = await telemetry.list(filter, { limit, cursor });
      if (format !== 'csv') {
        return events;
      }
      // Rows have no field for the cursor: it is in the headers.
      if (events.next) {
        setNextHeaders(ctx, cursorAfter({ operationId: exportOperation, workspaceId, params, query }, events.next));
      }
      return csvOf(events.items);
    },
  );
}

const columns = Object.keys(telemetryEvent.shape);

const csvOf = (events: TelemetryEvent[]): BytesResponse =>
  new BytesResponse(oneChunk(toCsv(columns, events)), {
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': 'attachment; filename="telemetry.csv"',
    'X-Content-Type-Options': 'nosniff',
  });

async function* oneChunk(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}
