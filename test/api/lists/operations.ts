import type { OpenApiDocument } from '../../../platform/http/routing/openapi';
import type { JsonSchema } from '../../../platform/http/routing/openapi-schema';

/** An operation that returns an array, alone or among its fields. */
export interface ListOperation {
  operationId: string;
  /** Names of its query parameters. */
  query: string[];
  /** Names of the headers that its response documents. */
  headers: string[];
  /** Whether the response is an object that names its next cursor. */
  namesCursor: boolean;
  isArray: boolean;
}

interface Schema {
  $ref?: string;
  type?: string;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

interface Operation {
  operationId: string;
  parameters: { name: string; in: string }[];
  responses: Record<string, { headers?: object; content?: Record<string, { schema: Schema }> }>;
}

/** Every GET of the document whose response has an array without a stated end, down to the fields of its fields. */
export function listOperations({ paths, components }: OpenApiDocument): ListOperation[] {
  const resolved = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : (components.schemas[schema.$ref.split('/').at(-1)!] as Schema);
  const grows = (given: Schema, depth = 0): boolean => {
    const schema = resolved(given);
    if (schema.type === 'array') {
      return schema.maxItems === undefined;
    }
    if (depth === 2) {
      return false;
    }
    const parts = [...Object.values(schema.properties ?? {}).map((each) => [each, depth + 1] as const)];
    const others = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].map((each) => [each, depth] as const);
    return [...parts, ...others].some(([part, at]) => grows(part, at));
  };
  return Object.values(paths).flatMap(({ get }: Record<string, JsonSchema>) => {
    if (!get) {
      return [];
    }
    const { operationId, parameters, responses } = get as unknown as Operation;
    const answer = responses['200'];
    const schema = answer?.content?.['application/json']?.schema;
    if (!answer || !schema || !grows(schema)) {
      return [];
    }
    const { type, properties = {} } = resolved(schema);
    return {
      operationId,
      query: parameters.flatMap(({ name, in: place }) => (place === 'query' ? [name] : [])),
      headers: Object.keys(answer.headers ?? {}),
      namesCursor: 'nextCursor' in properties,
      isArray: type === 'array',
    };
  });
}
