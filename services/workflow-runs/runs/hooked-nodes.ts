import type { GraphNode, NodeKind } from '../graph/graph';

/** Nodes whose visits do nothing: no hook is run at them. */
const idleKinds: readonly NodeKind[] = ['start', 'exit', 'fail', 'decision', 'parallel', 'join'];

/** Whether a node does work, so that hooks are run at its stages. */
export const doesWork = (node: Pick<GraphNode, 'kind'> | undefined): boolean =>
  node !== undefined && !idleKinds.includes(node.kind);
