import type { Attributes } from '../dot';
import type { GraphEdge, GraphNode, NodeKind, ParallelNode } from '../graph';

/** When the branches of a node have come to their join; what is wrong with that is passed to `problem`. */
export function parallelOf(
  kind: NodeKind,
  attributes: Attributes,
  problem: (message: string) => void,
): ParallelNode | undefined {
  const completion = attributes.get('completion');
  const failFast = attributes.get('fail_fast');
  if (kind !== 'parallel') {
    (['completion', 'fail_fast'] as const)
      .filter((name) => attributes.has(name))
      .forEach((name) => problem(`${name} is of nodes with type=parallel only`));
    return undefined;
  }
  if (completion !== undefined && completion !== 'all' && completion !== 'any') {
    problem('completion must be all or any');
  }
  if (failFast !== undefined && failFast !== 'true' && failFast !== 'false') {
    problem('fail_fast must be true or false');
  }
  const isAny = completion === 'any';
  const isFast = failFast === 'true';
  if (isAny && isFast) {
    problem('fail_fast is of nodes with completion=all: with any, a branch that fails leaves the others');
  }
  return isAny || isFast ? { ...(isAny && { completion: 'any' }), ...(isFast && { failFast: true }) } : undefined;
}

/** What is wrong with an edge that begins a branch: all of them are taken, at each visit of their node. */
export function branchProblems(
  { from, condition, maxTraversals }: GraphEdge,
  nodes: Readonly<Record<string, GraphNode>>,
): string[] {
  if (nodes[from]?.kind !== 'parallel') {
    return [];
  }
  const unused = { condition, max_traversals: maxTraversals };
  return Object.entries(unused).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [`${name} is not for edges of a parallel node, which are all taken; set it on an edge within the branch`],
  );
}
