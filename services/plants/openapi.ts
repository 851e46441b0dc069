import { z } from 'zod';
import { pageHeaders } from '../../platform/http/routing/openapi';
import { errorBody, limitInQuery, newPlant, plant } from './plant';

type Json = Record<string, unknown>;

const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: Json): Json => ({ 'application/json': { schema } });
const unexpected = { description: 'Unexpected error', content: json(ref('Error')) };
const unauthorized = { description: 'The bearer token is missing or wrong', content: json(ref('Error')) };

/** One of our schemas as JSON Schema; integers of 64 bits describe themselves in their metadata. */
function schemaOf(schema: z.ZodType, direction: 'input' | 'output' = 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { unrepresentable: 'any', io: direction });
  return rest;
}

/** The OpenAPI document of the plant store (specification 3, A). */
export function plantsOpenApi(): Json {
  const { additionalProperties: _, ...plantSchema } = schemaOf(plant);
  const { properties } = schemaOf(newPlant) as { properties: Json };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plant store sample',
      version: '1.0.0',
      license: { name: 'MIT', identifier: 'MIT' },
      description: 'Lists, creates and deletes plants, and announces new ones to webhooks.',
    },
    security: [{ bearerAuth: [] }],
    paths: {
      '/plants': {
        get: {
          operationId: 'listPlants',
          summary: 'List the plants the caller has access to, by number',
          parameters: [
            {
              name: 'limit',
              in: 'query',
              description: 'Maximum number of plants to return',
              schema: { ...schemaOf(limitInQuery, 'input'), pattern: undefined, type: 'integer', minimum: 1 },
            },
            {
              name: 'cursor',
              in: 'query',
              description: 'X-Next-Cursor of the previous page',
              schema: { type: 'string' },
            },
          ],
          responses: {
            200: {
              description: 'Plants; at most 10,000',
              headers: pageHeaders,
              content: json({ type: 'array', items: ref('Plant') }),
            },
            400: unexpected,
            401: unauthorized,
          },
        },
        post: {
          operationId: 'createPlant',
          summary: 'Create a plant under a number of the caller’s choice',
          parameters: [
            {
              name: 'Idempotency-Key',
              in: 'header',
              description: 'The same request with the same key is done once, and answered the same',
              schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,200}$' },
            },
          ],
          requestBody: { required: true, content: json(ref('NewPlant')) },
          responses: {
            200: { description: 'The plant', content: json(ref('Plant')) },
            400: unexpected,
            401: unauthorized,
            409: {
              description: 'The key belongs to another request, or to one in progress',
              content: json(ref('Error')),
            },
            503: unexpected,
          },
        },
      },
      '/plants/{id}': {
        delete: {
          operationId: 'deletePlant',
          summary: 'Delete a plant',
          parameters: [
            { name: 'id', in: 'path', required: true, description: 'Number of the plant', schema: properties.id },
          ],
          responses: { 204: { description: 'Deleted' }, 400: unexpected, 401: unauthorized },
        },
      },
    },
    webhooks: {
      '/plant/webhook': {
        post: {
          operationId: 'plantCreated',
          summary: 'Notify a receiver of a new plant',
          requestBody: { required: true, content: json(ref('NewPlant')) },
          responses: { 200: { description: 'The receiver has recorded it' } },
        },
      },
    },
    components: {
      schemas: {
        Plant: plantSchema,
        NewPlant: {
          allOf: [ref('Plant'), { type: 'object', required: ['id'], properties }],
          unevaluatedProperties: false,
        },
        Error: schemaOf(errorBody),
      },
      securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } },
    },
  };
}
