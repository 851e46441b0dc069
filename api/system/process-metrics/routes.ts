import { z } from 'zod';
import { localWorkspace } from '../../../contracts/common';
import { AppError } from '../../../platform/errors/app-error';
import { authorize } from '../../../platform/http/auth/authorize';
import { isLocalRequest } from '../../../platform/http/auth/loopback';
import type { Routes } from '../../../platform/http/routing/routes';
import { textResponse } from '../../../platform/http/text-response';
import type { ApiContext } from '../../context';
import { boardFigures } from './figures';

/** Scrapers come with whatever they are configured to add. */
const anyQuery = z.looseObject({});
const mediaType = 'text/plain; version=0.0.4';

/** The metrics of this replica, for Prometheus: by a key, or without one from this machine. */
export function processMetricsRoutes(routes: Routes, context: ApiContext): void {
  const { metrics } = context;
  if (context.workspaceId === localWorkspace) {
    boardFigures(metrics, context);
  }
  routes.add(
    {
      method: 'get',
      mount: 'root',
      path: '/metrics',
      operationId: 'readProcessMetrics',
      summary: 'Read the metrics of this replica in the text format of Prometheus',
      tag: 'health',
      permission: 'public',
      query: anyQuery,
      response: z.string(),
      mediaType: 'text/plain',
      errors: [401, 403],
    },
    async ({ auth }, ctx) => {
      const isKnown = auth.authMethod !== 'none';
      if (isKnown || !isLocalRequest(ctx.req.headers, ctx.req.socket)) {
        authorize(isKnown ? auth : undefined, 'telemetry:read', { method: ctx.method });
      }
      if (auth.workspaceId !== localWorkspace) {
        throw new AppError('FORBIDDEN', {
          status: 403,
          message: `The metrics are of the whole installation: the key has to be one of the workspace "${localWorkspace}".`,
        });
      }
      return textResponse(await metrics.read(), mediaType);
    },
  );
}
