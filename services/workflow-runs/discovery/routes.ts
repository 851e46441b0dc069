import { z } from 'zod';
import { RawJson } from '../../../platform/http/response';
import { buildOpenApi } from '../../../platform/http/routing/openapi';
import type { Routes } from '../../../platform/http/routing/routes';
import { usePermission } from '../http/auth';
import { errorDocument } from '../http/errors';

const open = { method: 'get' as const, mount: 'root' as const, tag: 'discovery', permission: 'public' };
const urls = { openapi_url: '/openapi.json', current_user_url: '/user', health_url: '/health' };
const description = 'Workflows as graphs, run as durable executions.';

/** A client's first requests: where things are, whether the service is up, and who the client is authenticated as. */
export function discoveryRoutes(routes: Routes): void {
  let document: RawJson | undefined;
  routes.add(
    {
      ...open,
      path: '/',
      operationId: 'getRoot',
      summary: 'List the URLs of this service',
      response: z.object({
        urls: z.object({ openapi_url: z.string(), current_user_url: z.string(), health_url: z.string() }),
      }),
    },
    async () => ({ urls }),
  );
  routes.add(
    {
      ...open,
      path: '/health',
      operationId: 'getHealth',
      summary: 'Check that the process responds',
      response: z.object({ status: z.literal('ok') }),
    },
    async () => ({ status: 'ok' as const }),
  );
  routes.add(
    {
      ...open,
      path: '/openapi.json',
      operationId: 'getOpenApi',
      summary: 'Read this document',
      response: z.looseObject({ openapi: z.string() }),
    },
    async () => {
      const info = { title: 'Runboard workflow runs', version: '1.0.0', description };
      const service = { info, credentials: ['bearer'] } as const;
      document ??= new RawJson(Buffer.from(JSON.stringify(buildOpenApi(routes.contracts, errorDocument, service))));
      return document;
    },
  );
  routes.add(
    {
      ...open,
      permission: usePermission,
      path: '/user',
      operationId: 'getUser',
      summary: 'Read the identity of the caller',
      response: z.object({ login: z.string() }),
    },
    async ({ auth }) => ({ login: auth.userId }),
  );
}
