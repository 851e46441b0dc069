import { z } from 'zod';
import { errorBody } from '../../../contracts/error';
import { RawJson } from '../../../platform/http/response';
import { buildOpenApi } from '../../../platform/http/routing/openapi';
import type { Routes } from '../../../platform/http/routing/routes';
import { serviceVersion } from '../../version';

const description = 'A task board whose agent runs cannot be lost. Every path is also served under /api/v1.';

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
    async () => {
      const info = { title: 'Runboard', version: serviceVersion, description };
      const service = { info, credentials: ['apiKey', 'bearer', 'session'] } as const;
      document ??= new RawJson(Buffer.from(JSON.stringify(buildOpenApi(routes.contracts, errorBody, service))));
      return document;
    },
  );
}
