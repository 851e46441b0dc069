import { cut } from '../../../platform/text/cut';
import { type Attributes, type DotGraph, maxProblems, readDot } from './dot';
import { type Place, placeOf } from './dot-tokens';
import { type Graph, type GraphEdge, graphLimits } from './graph';
import { GraphError } from './graph-error';
import { branchProblems } from './kinds/parallel';
import { readEdge, readNode, withLineBreaks } from './nodes';
import { structureProblems } from './structure';
import { readLimits } from './whole-graph';

export { GraphError } from './graph-error';

/**
 * Reads a workflow from DOT text and checks all of it, so that a run never finds out half-way that its graph is wrong.
 *
 * @throws GraphError naming every problem
 */
export function compileGraph(source: string): Graph {
  if (source.length > graphLimits.sourceCharacters) {
    throw new GraphError([`A graph may have at most ${graphLimits.sourceCharacters} characters.`]);
  }
  const dot = readDot(source);

  const placeOfNode = (id: string): Place => dot.places.get(id) ?? { line: 1, column: 1 };
  const problems = [...dot.problems];
  const edges = dot.edges.map((edge) => readEdge(edge, { ...edge, problems }));
  const nodes = Object.fromEntries(
    [...dot.nodes].map(([id, attributes]) => [
      id,
      readNode(id, {
        ...{ attributes, own: dot.own.get(id), problems, outgoing: edgesFrom(id, edges) },
        place: placeOfNode(id),
      }),
    ]),
  );
  const graph: Graph = {
    name: nameOf(dot),
    ...goalOf(dot.attributes),
    ...readLimits(dot.attributes, problems),
    start: Object.values(nodes).find(({ kind }) => kind === 'start')?.id ?? '',
    nodes,
    edges,
  };
  edges.forEach((edge, index) => {
    const of = `Edge ${edge.from} -> ${edge.to} (${placeOf(dot.edges[index]?.place ?? placeOfNode(edge.from))})`;
    problems.push(...branchProblems(edge, nodes).map((problem) => `${of}: ${problem}.`));
  });
  problems.push(...structureProblems(graph, (id) => placeOf(placeOfNode(id))));
  if (problems.length > 0) {
    throw new GraphError(problems.slice(0, maxProblems));
  }
  const bytes = Buffer.byteLength(JSON.stringify(graph));
  if (bytes > graphLimits.bytes) {
    throw new GraphError([
      `With its defaults in every node the graph has ${bytes} bytes, at most ${graphLimits.bytes} are run: shorten what node [...] and edge [...] set.`,
    ]);
  }
  return graph;
}

const edgesFrom = (id: string, edges: readonly GraphEdge[]): GraphEdge[] => edges.filter(({ from }) => from === id);

const nameOf = ({ name, attributes }: DotGraph): string => cut(withLineBreaks(attributes.get('label') ?? name), 200);

function goalOf(attributes: Attributes): { goal?: string } {
  const goal = attributes.get('goal');
  return goal ? { goal: withLineBreaks(goal) } : {};
}
