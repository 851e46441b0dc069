import { z } from 'zod';
import { RawJson } from '../../../platform/http/response';
import type { Routes } from '../../../platform/http/routing/routes';
import { apiDescription } from './describe';

/** The description of every route, from their contracts. */
export function openApiRoutes(routes: Routes): void {
  routes.add(
    {
      method: 'get',
      path: '/openapi.json',
      operationId: 'getOpenApi',
      summary: 'Read this document',
      tag: 'openapi',
      permission: 'public',
      response: z.looseObject({ openapi: z.string() }),
    },
    async () => new RawJson(apiDescription(routes.contracts)),
  );
}
