import type { Graph, GraphNode } from './graph';

/** Branches within branches, deeper than any real graph. */
const deepest = 20;

/** What is wrong with how the nodes of a graph are connected. */
export function structureProblems(graph: Graph): string[] {
  const nodes = Object.values(graph.nodes);
  const of = (kind: GraphNode['kind']): GraphNode[] => nodes.filter((node) => node.kind === kind);
  const starts = of('start');
  const problems: string[] = [];
  if (starts.length !== 1) {
    problems.push(`A graph needs one start (shape=Mdiamond); this one has ${starts.length}.`);
  }
  if (of('exit').length === 0) {
    problems.push('A graph needs an exit (shape=Msquare).');
  }
  if (problems.length > 0) {
    return problems;
  }
  return [...reachProblems(graph), ...nodes.flatMap((node) => nodeProblems(node, graph))];
}

const next = (graph: Graph, id: string): string[] => graph.edges.filter(({ from }) => from === id).map(({ to }) => to);
const before = (graph: Graph, id: string): string[] =>
  graph.edges.filter(({ to }) => to === id).map(({ from }) => from);

/** Every node that can be come to from some, themselves counted. */
function reached(from: readonly string[], step: (id: string) => string[]): Set<string> {
  const seen = new Set(from);
  for (const id of seen) {
    for (const other of step(id)) {
      seen.add(other);
    }
  }
  return seen;
}

function reachProblems(graph: Graph): string[] {
  const ends = Object.values(graph.nodes).filter(({ kind }) => kind === 'exit' || kind === 'fail');
  const fromStart = reached([graph.start], (id) => next(graph, id));
  const toEnd = reached(
    ends.map(({ id }) => id),
    (id) => before(graph, id),
  );
  const ids = Object.keys(graph.nodes);
  const lost = ids.filter((id) => !fromStart.has(id)).map((id) => `Node ${JSON.stringify(id)} is unreachable.`);
  const stuck = ids
    .filter((id) => !toEnd.has(id))
    .map((id) => `No path leads from node ${JSON.stringify(id)} to an end.`);
  return [...lost, ...stuck];
}

function nodeProblems(node: GraphNode, graph: Graph): string[] {
  const targets = next(graph, node.id);
  const name = `Node ${JSON.stringify(node.id)}`;
  if ((node.kind === 'exit' || node.kind === 'fail') && targets.length > 0) {
    return [`${name} is an end; nothing follows it.`];
  }
  if (node.kind === 'start' && before(graph, node.id).length > 0) {
    return [`${name} is the start; nothing leads to it.`];
  }
  if (node.kind !== 'parallel') {
    return [];
  }
  if (targets.length < 2) {
    return [`${name} is parallel and needs at least two edges.`];
  }
  return joinOf(graph, node.id) === undefined
    ? [`${name}: its branches do not all lead to one join (shape=tripleoctagon).`]
    : [];
}

/**
 * The join at which all branches of a parallel node meet: the one that every branch comes to first, whatever way it
 * takes; `undefined` when there is none.
 */
export function joinOf(graph: Graph, parallel: string, depth = 0): string | undefined {
  const joins = next(graph, parallel).map((branch) => firstJoins(graph, branch, depth));
  const [join] = [...(joins[0] ?? [])];
  return joins.every((joins) => joins?.size === 1 && join !== undefined && joins.has(join)) ? join : undefined;
}

/** The joins a branch comes to first; `undefined` when it can come to an end before. */
function firstJoins(graph: Graph, branch: string, depth: number): Set<string> | undefined {
  const joins = new Set<string>();
  const seen = new Set<string>();
  const waiting = [branch];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (seen.has(id)) {
      continue;
    }
    seen.add(id);
    const node = graph.nodes[id];
    if (!node || node.kind === 'exit' || node.kind === 'fail') {
      return undefined;
    }
    if (node.kind === 'join') {
      joins.add(id);
    } else if (node.kind === 'parallel') {
      // Branches within a branch meet at a join of their own, behind which it continues.
      const inner = depth < deepest ? joinOf(graph, id, depth + 1) : undefined;
      if (inner === undefined) {
        return undefined;
      }
      waiting.push(...next(graph, inner));
    } else {
      waiting.push(...next(graph, id));
    }
  }
  return joins;
}
