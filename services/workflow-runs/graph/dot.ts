import { type ASTNode, type EdgeTargetASTNode, parse } from '@ts-graphviz/ast';
import { graphLimits } from './graph';

/** The text is no graph; the message is for the person who wrote it. */
export class GraphError extends Error {
  override readonly name = 'GraphError';

  constructor(readonly problems: readonly string[]) {
    super(problems.join(' '));
  }
}

export type Attributes = ReadonlyMap<string, string>;

/** A graph in the DOT language, with the defaults of its surroundings in every node and edge. */
export interface DotGraph {
  name: string;
  attributes: Attributes;
  nodes: Map<string, Attributes>;
  edges: { from: string; to: string; attributes: Attributes }[];
}

interface Scope {
  node: Map<string, string>;
  edge: Map<string, string>;
}

/** Subgraphs within subgraphs, deeper than any real graph. */
const deepest = 20;

/**
 * Reads one directed graph in the DOT language.
 *
 * @throws GraphError
 */
export function readDot(source: string): DotGraph {
  const root = parsed(source).children.find((child) => child.type === 'Graph');
  if (!root) {
    throw new GraphError(['The text contains no graph.']);
  }
  if (!root.directed) {
    throw new GraphError(['A workflow is a directed graph: write digraph.']);
  }
  const attributes = new Map<string, string>();
  const graph: DotGraph = { name: root.id?.value ?? 'workflow', attributes, nodes: new Map(), edges: [] };
  readStatements(root.children, { scope: { node: new Map(), edge: new Map() }, graph, own: attributes, depth: 0 });
  return graph;
}

function parsed(source: string) {
  try {
    return parse(source);
  } catch (error) {
    const { message, location } = error as { message: string; location?: { start: { line: number; column: number } } };
    const where = location ? ` (line ${location.start.line}, column ${location.start.column})` : '';
    throw new GraphError([`The graph cannot be read: ${message}${where}`]);
  }
}

function readStatements(
  statements: readonly ASTNode[],
  { scope, graph, own, depth }: { scope: Scope; graph: DotGraph; own: Map<string, string>; depth: number },
): Set<string> {
  if (depth > deepest) {
    throw new GraphError(['Subgraphs are nested too deep.']);
  }
  const mentioned = new Set<string>();
  const node = (id: string, attributes: Attributes = new Map()): void => {
    mentioned.add(id);
    if (!graph.nodes.has(id)) {
      assertRoom('nodes', graph.nodes.size);
    }
    graph.nodes.set(id, new Map([...(graph.nodes.get(id) ?? scope.node), ...attributes]));
  };
  for (const statement of statements) {
    switch (statement.type) {
      case 'Attribute':
        own.set(statement.key.value, statement.value.value);
        break;
      case 'AttributeList': {
        const target = { Graph: own, Node: scope.node, Edge: scope.edge }[statement.kind];
        for (const [name, value] of attributesOf(statement.children)) {
          target.set(name, value);
        }
        break;
      }
      case 'Node':
        node(statement.id.value, attributesOf(statement.children));
        break;
      case 'Edge': {
        const attributes = new Map([...scope.edge, ...attributesOf(statement.children)]);
        const ends = statement.targets.map(endsOf);
        for (const id of ends.flat()) {
          node(id);
        }
        ends.slice(1).forEach((targets, index) => {
          for (const from of ends[index] ?? []) {
            for (const to of targets) {
              assertRoom('edges', graph.edges.length);
              graph.edges.push({ from, to, attributes });
            }
          }
        });
        break;
      }
      case 'Subgraph': {
        const inner = { node: new Map(scope.node), edge: new Map(scope.edge) };
        for (const id of readStatements(statement.children, {
          scope: inner,
          graph,
          own: new Map(),
          depth: depth + 1,
        })) {
          mentioned.add(id);
        }
        break;
      }
      default:
        break;
    }
  }
  return mentioned;
}

/** Refuses one more of these while the text is read: a few characters can stand for millions of edges. @throws GraphError */
function assertRoom(kind: 'nodes' | 'edges', count: number): void {
  if (count >= graphLimits[kind]) {
    throw new GraphError([`A graph may have at most ${graphLimits[kind]} ${kind}.`]);
  }
}

const endsOf = (target: EdgeTargetASTNode): string[] =>
  target.type === 'NodeRef' ? [target.id.value] : target.children.map(({ id }) => id.value);

function attributesOf(statements: readonly ASTNode[]): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const statement of statements) {
    if (statement.type === 'Attribute') {
      attributes.set(statement.key.value, statement.value.value);
    }
  }
  return attributes;
}
