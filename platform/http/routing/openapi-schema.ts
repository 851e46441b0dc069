import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

/** `input`: what a caller may send. `output`: what it receives. Defaults make the two differ. */
export type Direction = 'input' | 'output';

export interface DirectedSchema {
  schema: z.ZodType;
  direction: Direction;
}

export interface Components {
  /** A schema as an operation has it: a reference where it has a name. */
  reference(directed: DirectedSchema): JsonSchema;
  /** Every named schema referred to, by component name. */
  readonly schemas: Record<string, JsonSchema>;
}

const definitionPrefix = '#/$defs/';
const componentPrefix = '#/components/schemas/';

interface Converted {
  root: JsonSchema;
  definitions: Record<string, JsonSchema>;
}

function convert({ schema, direction }: DirectedSchema): Converted {
  // Wrapped, so that a schema with a name of its own becomes a definition like the named ones inside it.
  const wrapped = z.toJSONSchema(z.object({ it: schema }), { io: direction, unrepresentable: 'any' });
  const definitions = Object.entries(wrapped.$defs ?? {}).map(([name, { id: _id, ...rest }]) => [name, rest]);
  return {
    root: (wrapped.properties as { it: JsonSchema }).it,
    definitions: Object.fromEntries(definitions) as Record<string, JsonSchema>,
  };
}

function mapReferences(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => mapReferences(item, rename));
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const entries = Object.entries(value).map(([key, item]): [string, unknown] =>
    key === '$ref' && typeof item === 'string' && item.startsWith(definitionPrefix)
      ? [key, `${componentPrefix}${rename(item.slice(definitionPrefix.length))}`]
      : [key, mapReferences(item, rename)],
  );
  return Object.fromEntries(entries);
}

const innerNames = (definition: JsonSchema): string[] =>
  [...JSON.stringify(definition).matchAll(/"#\/\$defs\/([^"]+)"/g)].map(([, name = '']) => name);

/**
 * Gathers the named schemas (`.meta({ id })`) that those of `used` refer to. One that reads differently in the two directions,
 * directly or through a schema it uses, is listed twice; its input form is named `<Name>Input`.
 */
export function collectComponents(used: DirectedSchema[]): Components {
  const definitions: Record<Direction, Map<string, JsonSchema>> = { input: new Map(), output: new Map() };
  for (const directed of used) {
    for (const [name, json] of Object.entries(convert(directed).definitions)) {
      definitions[directed.direction].set(name, json);
    }
  }

  const differs = (name: string, visited = new Set<string>()): boolean => {
    const input = definitions.input.get(name);
    const output = definitions.output.get(name);
    if (visited.has(name) || !input || !output) {
      return false;
    }
    visited.add(name);
    return (
      JSON.stringify(input) !== JSON.stringify(output) || innerNames(input).some((inner) => differs(inner, visited))
    );
  };
  const nameOf = (name: string, direction: Direction): string =>
    direction === 'input' && differs(name) ? `${name}Input` : name;
  const publish = (json: JsonSchema, direction: Direction): JsonSchema =>
    mapReferences(json, (name) => nameOf(name, direction)) as JsonSchema;

  const published = (['input', 'output'] as const).flatMap((direction) =>
    [...definitions[direction]].map(([name, json]): [string, JsonSchema] => [
      nameOf(name, direction),
      publish(json, direction),
    ]),
  );
  return {
    reference: (directed) => publish(convert(directed).root, directed.direction),
    schemas: Object.fromEntries(published.sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}
