import { z } from 'zod';
import type { RouteContract } from '../../../platform/http/routing/route-contract';
import type { Routes } from '../../../platform/http/routing/routes';
import { serviceVersion } from '../../version';

const index = z
  .object({
    service: z.literal('runboard'),
    version: z.string(),
    /** What to read or call next, by what it is. */
    links: z.object({
      api: z.string(),
      openapi: z.string(),
      health: z.string(),
      ready: z.string(),
      authentication: z.string(),
      watch: z.string(),
    }),
    /** A sentence for a person. */
    message: z.string(),
  })
  .meta({ id: 'ServiceIndex' });

const links = {
  api: '/api',
  openapi: '/api/openapi.json',
  health: '/health/live',
  ready: '/health/ready',
  authentication: '/api/auth/context',
  watch: '/ws',
};

const message =
  'Runboard serves an API: send a key as X-API-Key; every endpoint is in the OpenAPI document, pages for people are in docs/.';

const shared = {
  method: 'get',
  summary: 'List the entry points of the service',
  tag: 'health',
  permission: 'public',
  response: index,
} as const satisfies Partial<RouteContract>;

/** What a person gets who opens the address of the service. */
export function indexRoutes(routes: Routes): void {
  const answer = async () => ({ service: 'runboard' as const, version: serviceVersion, links, message });
  routes.add({ ...shared, mount: 'root', path: '/', operationId: 'getServiceIndex' }, answer);
  routes.add({ ...shared, path: '', operationId: 'getApiIndex' }, answer);
}
