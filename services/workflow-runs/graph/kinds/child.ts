import type { Attributes } from '../dot';
import type { ChildNode, NodeKind } from '../graph';
import { parsePath } from '../values';

const ofChildren = ['workflow', 'vars', 'output'] as const;
const slug = /^[a-z0-9-]{1,64}$/;
const maxVars = 100;

/** The child run that a node starts; what is wrong with it is passed to `problem`. */
export function childOf(
  work: NodeKind,
  attributes: Attributes,
  problem: (message: string) => void,
): ChildNode | undefined {
  if (work !== 'child') {
    ofChildren
      .filter((name) => attributes.has(name))
      .forEach((name) => problem(`${name} is of nodes with type=child, and of maps with each=child, only`));
    return undefined;
  }
  const workflow = attributes.get('workflow') ?? '';
  if (!slug.test(workflow)) {
    problem('a child needs workflow, the slug of a workflow that has been run');
  }
  const output = parsePath(attributes.get('output') ?? 'last_output');
  if (!output) {
    problem('output must be the name of a value of the child run, such as review_output.score');
  }
  return { workflow, vars: varsOf(attributes.get('vars') ?? '', problem), output: output ?? [] };
}

/** `name=value, other=plan_output.count`: what the child begins with. */
function varsOf(written: string, problem: (message: string) => void): ChildNode['vars'] {
  const pairs = written
    .split(',')
    .map((pair) => pair.trim())
    .filter(Boolean)
    .map((pair) => {
      const [name = '', value = '', ...rest] = pair.split('=').map((side) => side.trim());
      const path = rest.length === 0 ? parsePath(value) : undefined;
      return path && parsePath(name)?.length === 1 ? ([name.normalize('NFC'), path] as [string, string[]]) : undefined;
    });
  const read = pairs.flatMap((pair) => (pair ? [pair] : []));
  const names = new Set(read.map(([name]) => name));
  if (read.length < pairs.length || names.size < read.length || read.length > maxVars) {
    problem(`vars must be up to ${maxVars} pairs such as "file=item, count=plan_output.count", each name once`);
  }
  return read;
}
