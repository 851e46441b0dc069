import { type ASTNode, type EdgeTargetASTNode, parse } from '@ts-graphviz/ast';
import { type AttributeOwner, isKnown } from './attributes';
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
  /** What is wrong with its attributes, with their places. */
  problems: string[];
}

interface Scope {
  node: Map<string, string>;
  edge: Map<string, string>;
}

const owners: Record<AttributeOwner, string> = { graph: 'a graph', node: 'a node', edge: 'an edge' };

/** More problems than a person mends at a time. */
export const maxProblems = 20;

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
  const graph: DotGraph = { name: root.id?.value ?? 'workflow', attributes, nodes: new Map(), edges: [], problems: [] };
  readStatements(root.children, { scope: { node: new Map(), edge: new Map() }, graph, own: attributes, depth: 0 });
  return graph;
}

const placeOf = (location: ASTNode['location']): string =>
  location ? `Line ${location.start.line}, column ${location.start.column}: ` : '';

function parsed(source: string) {
  try {
    // A byte order mark is no part of the text.
    return parse(source.replace(/^\uFEFF/, ''));
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
  /** Attributes are few: unknown ones, which could be many, are none of them. */
  const attributesOf = (list: readonly ASTNode[], owner: AttributeOwner): Map<string, string> => {
    const known = new Map<string, string>();
    for (const attribute of list) {
      if (attribute.type !== 'Attribute') {
        continue;
      }
      const { key, value, location } = attribute;
      if (isKnown(owner, key.value)) {
        known.set(key.value, value.value);
      } else if (graph.problems.length < maxProblems) {
        graph.problems.push(
          `${placeOf(location)}${JSON.stringify(key.value.slice(0, 64))} is no attribute of ${owners[owner]}.`,
        );
      }
    }
    return known;
  };
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
        for (const [name, value] of attributesOf([statement], 'graph')) {
          own.set(name, value);
        }
        break;
      case 'AttributeList': {
        const [owner, target] = (
          { Graph: ['graph', own], Node: ['node', scope.node], Edge: ['edge', scope.edge] } as const
        )[statement.kind];
        for (const [name, value] of attributesOf(statement.children, owner)) {
          target.set(name, value);
        }
        break;
      }
      case 'Node':
        node(statement.id.value, attributesOf(statement.children, 'node'));
        break;
      case 'Edge': {
        const attributes = new Map([...scope.edge, ...attributesOf(statement.children, 'edge')]);
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
