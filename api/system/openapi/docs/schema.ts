import type { JsonSchema } from '../../../../platform/http/routing/openapi-schema';
import type { Html } from './html';
import { html, prose, table } from './html';

const prefix = '#/components/schemas/';

/** Inner schemas that are written out; what is deeper is named by its type alone. */
const maxDepth = 4;

const join = (parts: Html[], separator: string): Html =>
  html`${parts.flatMap((part, n) => (n === 0 ? [part] : [html`${separator}`, part]))}`;

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

const schemasIn = (value: unknown): JsonSchema[] => (Array.isArray(value) ? value.filter(isSchema) : []);

const units = [
  ['minLength', 'maxLength', ' characters'],
  ['minItems', 'maxItems', ' items'],
  ['minimum', 'maximum', ''],
] as const;

/** The limits of a value in words; nothing without any. */
function bounds(schema: JsonSchema): string {
  const limit = (name: string): number | undefined => {
    const value = schema[name];
    return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined;
  };
  const texts = units.map(([least, most, unit]) => {
    const [from, to] = [limit(least), limit(most)];
    if (to === undefined) {
      return from === undefined || (from === 0 && unit !== '') ? '' : `at least ${from}${unit}`;
    }
    return from === undefined ? `at most ${to}${unit}` : `${from} to ${to}${unit}`;
  });
  return texts.find((text) => text !== '') ?? '';
}

/** What a value is, in one line; named schemas are links. */
export function typeOf(schema: JsonSchema): Html {
  const { $ref, enum: values, type, items, anyOf, oneOf, allOf, additionalProperties } = schema;
  if (typeof $ref === 'string') {
    const name = $ref.slice(prefix.length);
    return html`<a href="/docs/schemas/${name}">${name}</a>`;
  }
  if ('const' in schema) {
    return html`<code>${JSON.stringify(schema.const)}</code>`;
  }
  if (Array.isArray(values)) {
    return join(
      values.map((value) => html`<code>${JSON.stringify(value)}</code>`),
      ' | ',
    );
  }
  const [alternatives] = [anyOf, oneOf].map(schemasIn).filter(({ length }) => length > 0);
  if (alternatives) {
    return join(alternatives.map(typeOf), ' | ');
  }
  if (type === 'array') {
    return html`array of ${isSchema(items) ? typeOf(items) : 'anything'}`;
  }
  if (type === 'object') {
    return isSchema(additionalProperties) && Object.keys(additionalProperties).length > 0
      ? html`object of ${typeOf(additionalProperties)}`
      : html`object`;
  }
  if (typeof type !== 'string') {
    const [first] = schemasIn(allOf);
    return first ? typeOf(first) : html`anything`;
  }
  return html`${type}${typeof schema.format === 'string' ? ` (${schema.format})` : ''}`;
}

function factsOf(schema: JsonSchema): Html {
  const { description, pattern, format } = schema;
  const limits = bounds(schema);
  const standing = 'default' in schema ? html` Default <code>${JSON.stringify(schema.default)}</code>.` : html``;
  const form = typeof pattern === 'string' && format === undefined ? html` Matches <code>${pattern}</code>.` : html``;
  return html`${typeof description === 'string' ? prose(description) : []}${limits === '' ? '' : ` ${limits}.`}${standing}${form}`;
}

interface Field {
  name: string;
  schema: JsonSchema;
  isRequired: boolean;
}

/** The fields of an object, and those of the objects in it under their paths. */
function fieldsOf(schema: JsonSchema, path = '', depth = 0): Field[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : [];
  return properties.flatMap(([key, value]) => {
    if (!isSchema(value)) {
      return [];
    }
    const field = { name: `${path}${key}`, schema: value, isRequired: required.includes(key) };
    const items = value.type === 'array' && isSchema(value.items) ? value.items : undefined;
    const inner = depth >= maxDepth ? [] : fieldsOf(items ?? value, `${field.name}${items ? '[]' : ''}.`, depth + 1);
    return [field, ...inner];
  });
}

/** A value in lines of a table: a row for each parameter or field. */
export const fieldTable = (fields: Field[]): Html =>
  table(
    ['name', 'type', 'meaning'],
    fields.map(({ name, schema, isRequired }) => [
      html`<code>${name}</code>${isRequired ? html` <span class="meta">required</span>` : html``}`,
      typeOf(schema),
      factsOf(schema),
    ]),
  );

/** What a value is: its fields where it is an object, each of its alternatives, or a line. */
export function describeSchema(schema: JsonSchema): Html {
  const fields = fieldsOf(schema);
  const alternatives = [...schemasIn(schema.anyOf), ...schemasIn(schema.oneOf)];
  if (fields.length === 0 && alternatives.some((one) => isSchema(one.properties))) {
    return html`<p>One of:</p>
      ${alternatives.map((one) => html`<div>${describeSchema(one)}</div>`)}`;
  }
  return fields.length === 0 ? html`<p>${typeOf(schema)} ${factsOf(schema)}</p>` : fieldTable(fields);
}
