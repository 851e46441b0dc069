import { errorBody } from '../../../contracts/error';
import { exampleTexts } from '../../../contracts/example-texts';
import { describeParameter } from '../../../contracts/parameters';
import { refusalStatuses } from '../../../contracts/refusal-statuses';
import { requestExamples } from '../../../contracts/request-examples';
import { buildOpenApi, type DescribedService, type OpenApiDocument } from '../../../platform/http/routing/openapi';
import type { RouteContract } from '../../../platform/http/routing/route-contract';
import { serviceVersion } from '../../version';

const description = 'A task board whose agent runs cannot be lost. Every path is also served under /api/v1.';

const service: DescribedService = {
  info: { title: 'Runboard', version: serviceVersion, description, license: { name: 'MIT', identifier: 'MIT' } },
  credentials: ['apiKey', 'bearer', 'session'],
  servers: [{ url: '/', description: 'The service that this document was read from' }],
  describeParameter,
  requestExamples,
  exampleTexts,
  refusals: refusalStatuses,
};

/** The OpenAPI document of the API, from the contracts of its routes. */
export const describeApi = (contracts: readonly RouteContract[]): OpenApiDocument =>
  buildOpenApi(contracts, errorBody, service);

/** Documents by the operations in them: at least one, and no more than there are kinds of routes in a process. */
const texts = new Map<string, Buffer>();

/**
 * The same document as JSON. It is made once for a process, whatever asks for it: the workspaces have the same routes, and nothing
 * else is served meanwhile.
 */
export function apiDescription(contracts: readonly RouteContract[]): Buffer {
  const operations = contracts.map(({ operationId }) => operationId).join();
  const text = texts.get(operations) ?? Buffer.from(JSON.stringify(describeApi(contracts)));
  texts.set(operations, text);
  return text;
}
