import type { Graph, GraphNode } from './graph';

/** The neighbours of every node, by its id. */
interface Neighbours {
  next: (id: string) => readonly string[];
  before: (id: string) => readonly string[];
}

function neighboursOf({ edges }: Graph): Neighbours {
  const next = new Map<string, string[]>();
  const before = new Map<string, string[]>();
  const add = (to: Map<string, string[]>, id: string, other: string): void => {
    const list = to.get(id);
    if (list) {
      list.push(other);
    } else {
      to.set(id, [other]);
    }
  };
  for (const { from, to } of edges) {
    add(next, from, to);
    add(before, to, from);
  }
  return { next: (id) => next.get(id) ?? [], before: (id) => before.get(id) ?? [] };
}

/**
 * What is wrong with how the nodes of a graph are connected.
 *
 * @param placeOf where a node is in its text, in words; nowhere when absent
 */
export function structureProblems(graph: Graph, placeOf?: (id: string) => string): string[] {
  const nameOf = (id: string): string => `${JSON.stringify(id)}${placeOf ? ` (${placeOf(id)})` : ''}`;
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
  const neighbours = neighboursOf(graph);
  const joins = joinFinder(graph, neighbours);
  return [
    ...reachProblems(graph, neighbours, nameOf),
    ...nodes.flatMap((node) => nodeProblems(node, { neighbours, joinOf: joins, nameOf })),
  ];
}

/** Every node that can be reached from some, themselves included. */
function reached(from: readonly string[], step: (id: string) => readonly string[]): Set<string> {
  const seen = new Set(from);
  for (const id of seen) {
    for (const other of step(id)) {
      seen.add(other);
    }
  }
  return seen;
}

function reachProblems(graph: Graph, { next, before }: Neighbours, nameOf: (id: string) => string): string[] {
  const ends = Object.values(graph.nodes).filter(({ kind }) => kind === 'exit' || kind === 'fail');
  const fromStart = reached([graph.start], next);
  const toEnd = reached(
    ends.map(({ id }) => id),
    before,
  );
  const ids = Object.keys(graph.nodes);
  const lost = ids.filter((id) => !fromStart.has(id)).map((id) => `Node ${nameOf(id)} is unreachable.`);
  const stuck = ids.filter((id) => !toEnd.has(id)).map((id) => `No path leads from node ${nameOf(id)} to an end.`);
  return [...lost, ...stuck];
}

function nodeProblems(
  node: GraphNode,
  {
    neighbours: { next, before },
    joinOf,
    nameOf,
  }: {
    neighbours: Neighbours;
    joinOf: (parallel: string) => string | undefined;
    nameOf: (id: string) => string;
  },
): string[] {
  const targets = next(node.id);
  const name = `Node ${nameOf(node.id)}`;
  if ((node.kind === 'exit' || node.kind === 'fail') && targets.length > 0) {
    return [`${name} is an end; nothing follows it.`];
  }
  if (node.kind === 'start' && before(node.id).length > 0) {
    return [`${name} is the start; nothing leads to it.`];
  }
  if (node.kind !== 'parallel') {
    return [];
  }
  if (targets.length < 2) {
    return [`${name} is parallel and needs at least two edges.`];
  }
  return joinOf(node.id) === undefined
    ? [`${name}: its branches do not all lead to one join (shape=tripleoctagon).`]
    : [];
}

/**
 * The join at which all branches of a parallel node meet: the first one on every branch, whichever path it takes;
 * `undefined` when there is none.
 */
export const joinOf = (graph: Graph, parallel: string): string | undefined =>
  joinFinder(graph, neighboursOf(graph))(parallel);

/** Finds joins, each once: the branches of a parallel node are followed no second time for the node around it. */
function joinFinder(graph: Graph, { next }: Neighbours): (parallel: string) => string | undefined {
  const found = new Map<string, string | undefined>();

  function find(parallel: string): string | undefined {
    if (!found.has(parallel)) {
      // A branch that leads back to a parallel node it is on has no join there.
      found.set(parallel, undefined);
      found.set(parallel, commonJoin(next(parallel).map(firstJoins)));
    }
    return found.get(parallel);
  }

  /** The first joins of a branch, one for each path; `undefined` when it can come to an end before. */
  function firstJoins(branch: string): Set<string> | undefined {
    const joins = new Set<string>();
    const pending = new Set([branch]);
    for (const id of pending) {
      const node = graph.nodes[id];
      if (!node || node.kind === 'exit' || node.kind === 'fail') {
        return undefined;
      }
      if (node.kind === 'join') {
        joins.add(id);
        continue;
      }
      // Branches within a branch meet at a join of their own, behind which it continues.
      const from = node.kind === 'parallel' ? find(id) : id;
      if (from === undefined) {
        return undefined;
      }
      next(from).forEach((other) => pending.add(other));
    }
    return joins;
  }

  return find;
}

function commonJoin(joins: readonly (Set<string> | undefined)[]): string | undefined {
  const [join] = [...(joins[0] ?? [])];
  return joins.every((set) => set?.size === 1 && join !== undefined && set.has(join)) ? join : undefined;
}
