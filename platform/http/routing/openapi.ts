import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { sessionCookie } from '../auth/credentials';
import { isReadMethod } from '../context';
import { deprecationHeaders, describeDeprecation } from './deprecation';
import { type ExampleTexts, exampleValue } from './example-value';
import { collectComponents, type Components, type DirectedSchema, type JsonSchema } from './openapi-schema';
import { fullPath, idempotencyOf, type RouteContract } from './route-contract';

export interface OpenApiInfo {
  title: string;
  version: string;
  description: string;
  license?: { name: string; identifier: string };
}

/** An operation, with the fields that every one here has. */
export interface OperationObject extends JsonSchema {
  summary: string;
  tags: [string];
  security: Record<string, []>[];
  'x-permission'?: string;
  /** Callers that may only read may send it too. */
  'x-relays'?: true;
  /** It starts or steers agents, which not every client may do from elsewhere. */
  'x-local-agent'?: true;
  deprecated?: true;
}

/** The parts of an OpenAPI 3.1 document that are built here. */
export interface OpenApiDocument {
  openapi: '3.1.0';
  info: OpenApiInfo;
  servers?: { url: string; description: string }[];
  paths: Record<string, Record<string, OperationObject>>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, JsonSchema>;
    /** Of the schemas that responses are, by their names. */
    examples?: Record<string, { value: unknown }>;
    securitySchemes: JsonSchema;
  };
}

const securitySchemes = {
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  bearer: { type: 'http', scheme: 'bearer' },
  session: { type: 'apiKey', in: 'cookie', name: sessionCookie },
  toolBridgeHandle: { type: 'http', scheme: 'bearer' },
  attemptHandle: { type: 'apiKey', in: 'header', name: 'X-Board-Attempt-Handle' },
};

type CredentialScheme = keyof typeof securitySchemes;

const handleSchemes = { 'attempt-handle': 'attemptHandle', 'tool-bridge': 'toolBridgeHandle' } as const;

/** What is described: a service, and what its callers may prove themselves with where a contract names nothing else. */
export interface DescribedService {
  info: OpenApiInfo;
  credentials: readonly CredentialScheme[];
  servers?: { url: string; description: string }[];
  /** What a parameter is, in a sentence. */
  describeParameter?(parameter: DescribedParameter): string | undefined;
  /** Bodies of requests, by the id of their operation. */
  requestExamples?: Readonly<Record<string, unknown>>;
  /** What examples that nothing else is given for are made of; there are none without it. */
  exampleTexts?: ExampleTexts;
  /** What a refusal means, by its status; the phrase of HTTP when absent. */
  refusals?: Readonly<Record<number, { description: string; example?: unknown }>>;
}

export interface DescribedParameter {
  operationId: string;
  /** With its parameters as `:name`. */
  path: string;
  place: 'path' | 'query';
  name: string;
}

interface Parts {
  components: Components;
  service: DescribedService;
  /** Examples of the named schemas that responses are, as they are referred to. */
  examples: Map<string, { value: unknown }>;
}

function securityOf(
  { permission, credential }: RouteContract,
  credentials: readonly CredentialScheme[],
): Record<string, []>[] {
  if (permission === 'public') {
    return [];
  }
  const schemes = credential === undefined ? credentials : [handleSchemes[credential]];
  return schemes.map((scheme) => ({ [scheme]: [] }));
}

/** The schemes that a document refers to. */
function schemesOf(paths: OpenApiDocument['paths']): JsonSchema {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const named = new Set(operations.flatMap(({ security }) => security.flatMap((one) => Object.keys(one))));
  return Object.fromEntries(Object.entries(securitySchemes).filter(([scheme]) => named.has(scheme)));
}

const pathTemplate = (contract: RouteContract): string => fullPath(contract).replace(/[:*](\w+)/g, '{$1}');

const pathNames = (contract: RouteContract): string[] =>
  [...contract.path.matchAll(/[:*](\w+)/g)].map(([, name = '']) => name);

/** The statuses of refusals that follow from a contract, and those it names. */
function refusalStatuses(contract: RouteContract): number[] {
  const guarded = contract.permission === 'public' ? [] : [401, 403];
  const located = contract.params ? [404] : [];
  const reads = isReadMethod(contract.method.toUpperCase());
  const embodied = contract.body || !reads ? [413, 415] : [];
  const stored = reads ? [] : [507];
  const keyed = idempotencyOf(contract) === 'key' ? [409] : [];
  const limited = contract.mount === 'root' ? [] : [429];
  const all = [
    400,
    ...guarded,
    ...located,
    ...embodied,
    ...limited,
    ...keyed,
    500,
    503,
    ...stored,
    ...(contract.errors ?? []),
  ];
  return [...new Set(all)].sort((a, b) => a - b);
}

/** A schema's fields, one by one, as parameters of a request. */
function parameters(contract: RouteContract, place: 'path' | 'query', { components, service }: Parts): JsonSchema[] {
  const schema = place === 'path' ? contract.params : contract.query;
  if (!(schema instanceof z.ZodObject)) {
    return [];
  }
  const fields = Object.entries<z.ZodType>(schema.shape);
  const { operationId, path } = contract;
  return fields.map(([name, field]) => {
    const { description, ...shape } = components.reference({ schema: field, direction: 'input' });
    const stated = description ?? service.describeParameter?.({ operationId, path, place, name });
    return {
      name,
      in: place,
      ...(stated === undefined ? {} : { description: stated }),
      required: place === 'path' || !field.safeParse(undefined).success,
      schema: shape,
    };
  });
}

const content = (schema: JsonSchema, example: JsonSchema = {}, type = 'application/json'): JsonSchema => ({
  [type]: { schema, ...example },
});

/** The example of a response: one for each schema, whichever operations respond with it. */
function responseExample(
  schema: JsonSchema,
  mediaType: string | undefined,
  { components, service, examples }: Parts,
): JsonSchema {
  const { exampleTexts } = service;
  if (!exampleTexts) {
    return {};
  }
  if (mediaType !== undefined) {
    return { example: exampleTexts.byMediaType[mediaType] };
  }
  const value = exampleValue(schema, components.schemas, exampleTexts);
  const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined;
  if (name === undefined) {
    return { example: value };
  }
  examples.set(name, { value });
  return { examples: { [name]: { $ref: `#/components/examples/${name}` } } };
}

/** The formats of a response that are texts, besides the one that its schema describes. */
function textContents(mediaTypes: readonly string[] = [], parts: Parts): JsonSchema {
  const text = { type: 'string' };
  const entries = mediaTypes.flatMap((type) => Object.entries(content(text, responseExample(text, type, parts), type)));
  return Object.fromEntries(entries);
}

/** The body of a request: of JSON, or of a form with files. */
function requestBody(contract: RouteContract, { components, service }: Parts): JsonSchema {
  const stated = service.requestExamples?.[contract.operationId];
  if (contract.rawBody) {
    return { requestBody: { required: true, content: content({}, stated === undefined ? {} : { example: stated }) } };
  }
  if (!contract.body) {
    return {};
  }
  const schema = components.reference({ schema: contract.body, direction: 'input' });
  const type = contract.upload ? 'multipart/form-data' : 'application/json';
  const { exampleTexts } = service;
  const made = exampleTexts && !contract.upload ? exampleValue(schema, components.schemas, exampleTexts) : undefined;
  const example = stated ?? made;
  return { requestBody: { required: true, content: { [type]: { schema, ...(example ? { example } : {}) } } } };
}

const refusalName = (status: number): string => `Refused${status}`;

/** Every refusal that an operation names, once for its status. */
function refusalResponses(contracts: readonly RouteContract[], error: z.ZodType, { components, service }: Parts) {
  const schema = components.reference({ schema: error, direction: 'output' });
  const statuses = [...new Set(contracts.flatMap(refusalStatuses))].sort((a, b) => a - b);
  const responses = statuses.map((status): [string, JsonSchema] => {
    const { description = STATUS_CODES[status] ?? '', example } = service.refusals?.[status] ?? {};
    return [
      refusalName(status),
      { description, content: { 'application/json': { schema, ...(example ? { example } : {}) } } },
    ];
  });
  return Object.fromEntries(responses);
}

/** The headers of a response about the rest of its list. */
export const pageHeaders = {
  Link: {
    description: 'Next page of the list, rel="next" (RFC 8288); absent on the last page.',
    schema: { type: 'string' },
  },
  'X-Next-Cursor': {
    description: 'Value of `cursor` for the next page; absent on the last page.',
    schema: { type: 'string' },
  },
};

/** The header that lets a request be repeated without doing it twice, with the bounds of the route's own rule or the usual. */
function keyParameters(contract: RouteContract): JsonSchema[] {
  const idempotency = idempotencyOf(contract);
  if (idempotency === 'none') {
    return [];
  }
  const bounds = idempotency === 'own' ? { minLength: 8, maxLength: 240 } : { minLength: 1, maxLength: 200 };
  const lifetime = idempotency === 'own' ? '' : ', for 24 hours';
  return [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description: `A repeated request with the same key is processed once and gets the first response${lifetime}.`,
      schema: { type: 'string', ...bounds, pattern: '^[\\x21-\\x7e]+$' },
    },
  ];
}

const takes = ({ query }: Pick<RouteContract, 'query'>, parameter: string): boolean =>
  query instanceof z.ZodObject && parameter in query.shape;

/** Whether the contract is of a list that is read by following its cursor. */
export const isPaged = (contract: Pick<RouteContract, 'query'>): boolean => takes(contract, 'cursor');

function headersOf(contract: RouteContract): JsonSchema {
  const headers = {
    ...(contract.deprecated ? deprecationHeaders : {}),
    ...(isPaged(contract) ? pageHeaders : {}),
    ...(takes(contract, 'page[offset]') ? { Link: pageHeaders.Link } : {}),
  };
  return Object.keys(headers).length === 0 ? {} : { headers };
}

function operation(contract: RouteContract, parts: Parts): OperationObject {
  const { components, service } = parts;
  const status = contract.status ?? 200;
  const empty = contract.response instanceof z.ZodUndefined;
  const refusals = refusalStatuses(contract).map((code) => [
    code,
    { $ref: `#/components/responses/${refusalName(code)}` },
  ]);
  const schema = components.reference({ schema: contract.response, direction: 'output' });
  const success = {
    description: STATUS_CODES[status] ?? '',
    ...headersOf(contract),
    ...(empty
      ? {}
      : {
          content: {
            ...content(schema, responseExample(schema, contract.mediaType, parts), contract.mediaType),
            ...textContents(contract.otherMediaTypes, parts),
          },
        }),
  };
  return {
    operationId: contract.operationId,
    summary: contract.summary,
    ...(contract.deprecated && { deprecated: true, description: describeDeprecation(contract.deprecated) }),
    tags: [contract.tag],
    security: securityOf(contract, service.credentials),
    ...(contract.permission === 'public' ? {} : { 'x-permission': contract.permission }),
    ...(contract.localAgent && { 'x-local-agent': true as const }),
    ...(contract.relays && { 'x-relays': true as const }),
    parameters: [
      ...parameters(contract, 'path', parts),
      ...parameters(contract, 'query', parts),
      ...keyParameters(contract),
    ],
    ...requestBody(contract, parts),
    responses: Object.fromEntries([[status, success], ...refusals]) as JsonSchema,
  };
}

/** The schemas of one contract, each in the direction it travels; fields of params and query one by one. */
function schemasOf(contract: RouteContract): DirectedSchema[] {
  const fields = [contract.params, contract.query].flatMap((schema) =>
    schema instanceof z.ZodObject ? Object.values<z.ZodType>(schema.shape) : [],
  );
  return [
    ...[...fields, ...(contract.body ? [contract.body] : [])].map((schema) => ({
      schema,
      direction: 'input' as const,
    })),
    { schema: contract.response, direction: 'output' },
  ];
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

/**
 * Describes every route in one OpenAPI 3.1 document.
 *
 * @param error schema of the refusal envelope
 * @throws Error when a path parameter has no schema
 */
export function buildOpenApi(
  contracts: readonly RouteContract[],
  error: z.ZodType,
  service: DescribedService,
): OpenApiDocument {
  const components = collectComponents([...contracts.flatMap(schemasOf), { schema: error, direction: 'output' }]);
  const parts: Parts = { components, service, examples: new Map() };
  const paths: OpenApiDocument['paths'] = {};
  for (const contract of contracts) {
    const described = contract.params instanceof z.ZodObject ? Object.keys(contract.params.shape) : [];
    const missing = pathNames(contract).filter((name) => !described.includes(name));
    if (missing.length > 0) {
      throw new Error(`${contract.operationId}: no schema for the path parameter ${missing.join(', ')}.`);
    }
    (paths[pathTemplate(contract)] ??= {})[contract.method] = operation(contract, parts);
  }
  return {
    openapi: '3.1.0',
    info: service.info,
    ...(service.servers && { servers: service.servers }),
    paths,
    components: {
      schemas: components.schemas,
      responses: refusalResponses(contracts, error, parts),
      ...(parts.examples.size === 0 ? {} : { examples: Object.fromEntries([...parts.examples].sort(byName)) }),
      securitySchemes: schemesOf(paths),
    },
  };
}
