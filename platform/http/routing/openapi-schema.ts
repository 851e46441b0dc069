import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

/** `input`: what a caller may send. `output`: what it receives. Defaults make the two differ. */
export type Direction = 'input' | 'output';

export interface DirectedSchema {
  schema: z.ZodType;
  direction: Direction;
}

export interface Components {
  /**
   * A schema as an operation has it: a reference where it has a name.
   *
   * @throws Error for one that was not among those gathered
   */
  reference(directed: DirectedSchema): JsonSchema;
  /** Every named schema referred to, by component name. */
  readonly schemas: Record<string, JsonSchema>;
}

const definitionPrefix = '#/$defs/';
const componentPrefix = '#/components/schemas/';

interface Converted {
  /** Of each schema, as an operation has it. */
  roots: Map<z.ZodType, JsonSchema>;
  /** The named schemas that they refer to. */
  definitions: Record<string, JsonSchema>;
}

/** Converts schemas together: one that many of them contain is converted once. */
function convert(used: DirectedSchema[], direction: Direction): Converted {
  const schemas = [...new Set(used.filter((one) => one.direction === direction).map(({ schema }) => schema))];
  // Wrapped, so that a schema with a name of its own becomes a definition like the named ones inside it.
  const wrapper = z.object(Object.fromEntries(schemas.map((schema, index) => [`it${index}`, schema])));
  const { properties, $defs = {} } = z.toJSONSchema(wrapper, { io: direction, unrepresentable: 'any' });
  const roots = properties as Record<string, JsonSchema>;
  const definitions = Object.entries($defs).map(([name, { id: _id, ...rest }]) => [name, rest]);
  return {
    roots: new Map(schemas.map((schema, index) => [schema, roots[`it${index}`] as JsonSchema])),
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
  const converted: Record<Direction, Converted> = { input: convert(used, 'input'), output: convert(used, 'output') };

  const differs = (name: string, visited = new Set<string>()): boolean => {
    const input = converted.input.definitions[name];
    const output = converted.output.definitions[name];
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
    Object.entries(converted[direction].definitions).map(([name, json]): [string, JsonSchema] => [
      nameOf(name, direction),
      publish(json, direction),
    ]),
  );
  return {
    reference: ({ schema, direction }) => {
      const root = converted[direction].roots.get(schema);
      if (!root) {
        throw new Error('A schema is referred to that is not among those of the document.');
      }
      return publish(root, direction);
    },
    schemas: Object.fromEntries(published.sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}
