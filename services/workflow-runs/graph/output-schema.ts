import { parseBoundedJson } from '../../../platform/json/bounded';
import type { Attributes } from './dot';
import type { NodeKind } from './graph';

const limits = { depth: 32, values: 2_000, nameLength: 200 };
const maxCharacters = 20_000;

/** The `output_schema` of a node; what is wrong with it is passed to `problem`. Whether it is a schema is checked elsewhere. */
export function outputSchemaOf(
  kind: NodeKind,
  attributes: Attributes,
  problem: (message: string) => void,
): Record<string, unknown> | undefined {
  const written = attributes.get('output_schema');
  if (written === undefined) {
    return undefined;
  }
  if (kind !== 'prompt' && kind !== 'command') {
    problem('output_schema is of prompts and commands only');
    return undefined;
  }
  const schema = written.length > maxCharacters ? undefined : read(written);
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    problem(`output_schema must be a JSON schema, an object of at most ${maxCharacters} characters`);
    return undefined;
  }
  return schema as Record<string, unknown>;
}

function read(text: string): unknown {
  try {
    return parseBoundedJson(text, limits);
  } catch {
    return undefined;
  }
}
