import type { OpenApiDocument } from '../../../platform/http/routing/openapi';
import { minimalValue, type Schema } from './minimal-value';

/** One operation of the OpenAPI document, as a caller who has nothing else reads it. */
export interface Operation {
  /** `GET /api/tasks/{taskId}`. */
  name: string;
  method: string;
  template: string;
  operationId: string;
  tag: string;
  /** The permission it needs; undefined: it is open to callers without a credential. */
  permission: string | undefined;
  /** Schemas of its path parameters by name. */
  params: Record<string, Schema>;
  body: Schema | undefined;
  /** What the document shows as a body. */
  example: unknown;
  contentType: string | undefined;
}

interface Described {
  operationId: string;
  tags: string[];
  security?: unknown[];
  'x-permission'?: string;
  parameters?: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> };
}

/** @throws Error when an operation declares both that it needs a credential and that it needs no permission, or neither */
export function operationsOf(document: OpenApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const {
        operationId,
        tags,
        security = [],
        parameters = [],
        requestBody,
        ...rest
      } = described as unknown as Described;
      const permission = rest['x-permission'];
      const name = `${method.toUpperCase()} ${template}`;
      if ((security.length === 0) !== (permission === undefined)) {
        throw new Error(`${name}: who may call it?`);
      }
      const [contentType, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
      return {
        name,
        method: method.toUpperCase(),
        template,
        operationId,
        tag: tags[0] ?? '',
        permission,
        params: Object.fromEntries(parameters.flatMap((one) => (one.in === 'path' ? [[one.name, one.schema]] : []))),
        body: content?.schema,
        example: content?.example,
        contentType,
      };
    }),
  );
}

/** Fields that keep what a request makes from deciding about the requests after it: the smallest policy denies everything. */
const withoutEffect: Record<string, object> = { createPolicy: { enabled: false } };

export interface RequestParts {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/**
 * The smallest request that the operation's contract describes.
 *
 * @param ids values of path parameters by name; the others are well-formed ids of nothing that exists
 */
export function requestOf(operation: Operation, document: OpenApiDocument, ids: Record<string, string>): RequestParts {
  const { method, template, params, body, contentType } = operation;
  const valueOf = (schema: Schema): unknown => minimalValue(schema, document.components.schemas);
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(ids[name] ?? String(valueOf(params[name] ?? {}))),
  );
  if (body === undefined) {
    return { method, path, headers: {}, body: undefined };
  }
  if (contentType === 'multipart/form-data') {
    const form = '--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\na\r\n--b--\r\n';
    return { method, path, headers: { 'Content-Type': 'multipart/form-data; boundary=b' }, body: form };
  }
  const value = valueOf(body) ?? {};
  const overrides = withoutEffect[operation.operationId];
  const text = JSON.stringify(overrides === undefined ? value : { ...value, ...overrides });
  return { method, path, headers: { 'Content-Type': 'application/json' }, body: text };
}
