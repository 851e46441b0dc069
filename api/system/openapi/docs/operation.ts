import { authenticated } from '../../../../platform/http/auth/authorize';
import type { OpenApiDocument, OperationObject } from '../../../../platform/http/routing/openapi';
import type { JsonSchema } from '../../../../platform/http/routing/openapi-schema';
import { type Html, html, prose } from './html';
import { describeSchema, fieldTable } from './schema';

export interface DescribedOperation {
  method: string;
  path: string;
  operation: OperationObject;
}

/** The operations of a document in its order. */
export const operationsOf = ({ paths }: OpenApiDocument): DescribedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

interface Parameter {
  name: string;
  in: string;
  description?: string;
  required: boolean;
  schema: JsonSchema;
}

interface Content {
  content?: Record<string, { schema: JsonSchema; example?: unknown; examples?: Record<string, { $ref: string }> }>;
}

type Response = Content & { description: string; $ref?: string };

const places = [
  ['path', 'Path'],
  ['query', 'Query'],
  ['header', 'Headers'],
] as const;

const parametersOf = (parameters: Parameter[]): Html[] =>
  places.flatMap(([place, title]) => {
    const fields = parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, description, required, schema }) => ({
        name,
        schema: { ...schema, description },
        isRequired: required,
      }));
    return fields.length === 0
      ? []
      : [
          html`<h3>${title}</h3>
            ${fieldTable(fields)}`,
        ];
  });

/** The example of a schema by its name, for what refers to it. */
type ExampleOf = (name: string) => unknown;

const textOf = (example: unknown): string =>
  typeof example === 'string' ? example : JSON.stringify(example, undefined, 2);

const contentOf = (title: string, { content = {} }: Content, exampleOf: ExampleOf): Html[] =>
  Object.entries(content).map(([type, { schema, example, examples = {} }]) => {
    const [named] = Object.keys(examples);
    const shown = named === undefined ? example : exampleOf(named);
    return html`<h3>${title} <span class="meta">${type}</span></h3>
      ${describeSchema(schema)} ${shown === undefined ? '' : html`<pre>${textOf(shown)}</pre>`}`;
  });

const neededBy = ({ 'x-permission': permission, 'x-local-agent': isLocal }: OperationObject): string => {
  const needed =
    permission === undefined
      ? 'Open to every caller.'
      : permission === authenticated
        ? 'Open to every caller with a valid credential.'
        : `Needs \`${permission}\`.`;
  return isLocal ? `${needed} The caller must be allowed to run agents.` : needed;
};

/** One operation: what it takes, what it answers, and how it is refused. */
export function describeOperation({ method, path, operation }: DescribedOperation, exampleOf: ExampleOf): Html {
  const responses = Object.entries(operation.responses as Record<string, Response>);
  const refusals = responses.filter(([, { $ref }]) => $ref !== undefined).map(([status]) => status);
  const { operationId, summary, description, deprecated } = operation;
  return html`<section id="${String(operationId)}">
    <h2>${summary}${deprecated ? ' (deprecated)' : ''}</h2>
    <p>
      <code><span class="method">${method}</span> ${path}</code>
    </p>
    <p class="meta">${prose(neededBy(operation))} Operation <code>${String(operationId)}</code>.</p>
    ${typeof description === 'string' ? html`<p>${prose(description)}</p>` : ''}
    ${parametersOf((operation.parameters ?? []) as Parameter[])}
    ${contentOf('Body', operation.requestBody ?? {}, exampleOf)}
    ${responses
      .filter(([, { $ref }]) => $ref === undefined)
      .map(([status, response]) =>
        response.content
          ? html`${contentOf(`Response ${status}`, response, exampleOf)}`
          : html`<h3>Response ${status}</h3>
              <p>${response.description}, without a body.</p>`,
      )}
    <p class="meta">Refused with ${refusals.join(', ')} (<a href="/docs#refusals">what they mean</a>).</p>
  </section>`;
}
