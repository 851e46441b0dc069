import { parseBoundedJson } from '../../../../platform/json/bounded';
import type { Attributes } from '../dot';
import type { NodeKind, ToolNode } from '../graph';

const ofTools = ['server', 'tool', 'arguments', 'idempotent'] as const;
const id = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const limits = { depth: 32, values: 2_000, nameLength: 200 };
const maxCharacters = 20_000;
const longestName = 256;

/** The tool that a node calls; what is wrong with it is passed to `problem`. */
export function toolOf(
  work: NodeKind,
  attributes: Attributes,
  problem: (message: string) => void,
): ToolNode | undefined {
  if (work !== 'tool') {
    ofTools
      .filter((name) => attributes.has(name))
      .forEach((name) => problem(`${name} is of nodes with type=tool, and of maps with each=tool, only`));
    return undefined;
  }
  const server = attributes.get('server') ?? '';
  const tool = attributes.get('tool') ?? '';
  if (!id.test(server)) {
    problem('a tool needs server, the id of a tool server of the board');
  }
  if (tool === '' || tool.length > longestName || tool.includes('$')) {
    problem('a tool needs tool, the name that its server has for it: only its arguments hold values');
  }
  const written = attributes.get('arguments') ?? '{}';
  const values = written.length > maxCharacters ? undefined : read(written);
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    problem(`arguments must be a JSON object of at most ${maxCharacters} characters`);
  }
  const idempotent = attributes.get('idempotent');
  if (idempotent !== undefined && idempotent !== 'true' && idempotent !== 'false') {
    problem('idempotent must be true or false');
  }
  return {
    ...{ server, tool, arguments: values as ToolNode['arguments'] },
    ...(idempotent === 'true' && { idempotent: true as const }),
  };
}

function read(text: string): unknown {
  try {
    return parseBoundedJson(text, limits);
  } catch {
    return undefined;
  }
}
