import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import {
  findingId,
  watchdogInspection,
  watchdogOverride,
  watchdogOverrideRequest,
  watchdogQuery,
} from '../../../contracts/runs/watchdog';
import type { Routes } from '../../../platform/http/routing/routes';
import { PagedBody } from '../../../platform/lists/page';
import { attemptOfTask } from '../attempts/attempt';
import type { WatchdogContext } from './context';
import { overrideFinding } from './override';

/** The findings of a run's progress watchdog, and people's decisions about them. */
export function watchdogRoutes(routes: Routes, context: WatchdogContext): void {
  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/watchdog',
      operationId: 'getRunWatchdog',
      summary: 'Read watchdog findings of an attempt with their actions and overrides',
      tag: 'runs',
      permission: 'agent:read',
      params: z.strictObject({ taskId }),
      query: watchdogQuery,
      response: watchdogInspection,
      errors: [404],
    },
    async ({ params, query: { attemptId, ...part } }) => {
      const record = await attemptOfTask(context, params.taskId, attemptId);
      const { body, next } = await context.watchdog.inspect(record._id, part);
      return new PagedBody({ taskId: record.taskId, attemptId: record._id, ...body }, next);
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/watchdog/:findingId/override',
      operationId: 'overrideRunWatchdog',
      localAgent: true,
      summary: 'Override a watchdog finding, once: applied (200) or recorded (202)',
      tag: 'runs',
      permission: 'agent:write',
      params: z.strictObject({ taskId, findingId }),
      body: watchdogOverrideRequest,
      response: watchdogOverride,
      errors: [404, 409, 503],
      audit: ({ body }, { findingId, resolution, reason }) => ({
        action: 'watchdog.override',
        resource: body.attemptId,
        details: { findingId, resolution, reason },
        once: `watchdog.override/${findingId}`,
      }),
    },
    async ({ params, body, auth }, ctx) => {
      const override = await overrideFinding(context, { ...params, ...body }, auth);
      if (override.state === 'requested') {
        ctx.status = 202;
      }
      return override;
    },
  );
}
