import { z } from 'zod';
import { RawJson } from '../../../platform/http/response';
import type { Routes } from '../../../platform/http/routing/routes';
import { describeApi } from './describe';

/** The description of every route, built from their contracts when it is first requested. */
export function openApiRoutes(routes: Routes): void {
  let document: RawJson | undefined;
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
    async () => (document ??= new RawJson(Buffer.from(JSON.stringify(describeApi(routes.contracts))))),
  );
}
