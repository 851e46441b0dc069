import { cut } from '../../../platform/text/cut';
import { type AttributeOwner, isKnown, ofWholeGraph } from './attributes';
import { type Place, placeOf, type Token, tokensOf, unreadable } from './dot-tokens';
import { graphLimits } from './graph';
import { GraphError } from './graph-error';

export type Attributes = ReadonlyMap<string, string>;

/** A graph in the DOT language, with the defaults of its surroundings in every node and edge. */
export interface DotGraph {
  name: string;
  attributes: Attributes;
  nodes: Map<string, Attributes>;
  edges: { from: string; to: string; attributes: Attributes; place: Place }[];
  /** The attributes that each node has itself, without defaults. */
  own: Map<string, Attributes>;
  /** Where each node has attributes last, or is mentioned first. */
  places: Map<string, Place>;
  /** What is wrong with its attributes, with their places. */
  problems: string[];
}

/** What statements add to: the defaults around them, and the nodes they mention. */
interface Scope {
  node: Map<string, string>;
  edge: Map<string, string>;
  mentioned: Set<string>;
  /** 0 for the graph itself. */
  depth: number;
}

const owners: Record<AttributeOwner, string> = { graph: 'a graph', node: 'a node', edge: 'an edge' };

/** Words that are names in quotes only. */
const keywords = new Set(['strict', 'graph', 'digraph', 'subgraph', 'node', 'edge']);

/** More problems than a person mends at a time. */
export const maxProblems = 20;

/** Subgraphs within subgraphs, deeper than any real graph. */
const deepest = 20;

/**
 * Reads one directed graph in the DOT language, in time linear in its length.
 *
 * @throws GraphError
 */
export function readDot(source: string): DotGraph {
  return new DotReader(source).read();
}

class DotReader {
  readonly #tokens: Generator<Token, never>;
  #next: Token;
  readonly #attributes = new Map<string, string>();
  readonly #graph: DotGraph = {
    name: 'workflow',
    attributes: this.#attributes,
    nodes: new Map(),
    edges: [],
    own: new Map(),
    places: new Map(),
    problems: [],
  };

  constructor(source: string) {
    this.#tokens = tokensOf(source);
    this.#next = this.#tokens.next().value;
  }

  read(): DotGraph {
    this.#takeKeyword('strict');
    if (this.#takeKeyword('graph')) {
      throw new GraphError(['A workflow is a directed graph: write digraph.']);
    }
    if (!this.#takeKeyword('digraph')) {
      this.#expected('digraph');
    }
    if (!this.#isSign('{')) {
      this.#graph.name = this.#id('a name or {');
    }
    this.#statements({ node: new Map(), edge: new Map(), mentioned: new Set(), depth: 0 });
    if (this.#next.kind !== 'end') {
      this.#expected('the end of the text behind the graph');
    }
    return this.#graph;
  }

  #statements(scope: Scope): void {
    if (scope.depth > deepest) {
      throw new GraphError(['Subgraphs are nested too deep.']);
    }
    this.#sign('{');
    while (!this.#takeSign('}')) {
      if (!this.#takeSign(';')) {
        this.#statement(scope);
      }
    }
  }

  #statement(scope: Scope): void {
    for (const owner of ['graph', 'node', 'edge'] as const) {
      if (this.#takeKeyword(owner)) {
        if (!this.#isSign('[')) {
          this.#expected('[');
        }
        const target = owner === 'graph' ? this.#attributes : scope[owner];
        for (const [name, value] of this.#attributeLists(owner, scope)) {
          target.set(name, value);
        }
        return;
      }
    }
    const first = this.#next;
    if (first.kind === 'sign' || this.#isKeyword('subgraph')) {
      this.#edges(this.#subgraph(scope), scope, first);
      return;
    }
    const id = this.#id('a node, an attribute, a subgraph or }');
    if (this.#takeSign('=')) {
      const value = this.#id('a value');
      if (this.#isMeant('graph', { ...first, value: id }, scope)) {
        this.#attributes.set(id, value);
      }
      return;
    }
    this.#port();
    const node = id.normalize('NFC');
    this.#mention(node, scope, first);
    if (this.#isEdge()) {
      this.#edges([node], scope, first);
    } else {
      if (this.#isSign('[')) {
        this.#graph.places.set(node, first);
      }
      const own = this.#attributeLists('node', scope);
      this.#graph.nodes.set(node, new Map([...(this.#graph.nodes.get(node) ?? []), ...own]));
      this.#graph.own.set(node, new Map([...(this.#graph.own.get(node) ?? []), ...own]));
    }
  }

  /** The edges behind the first end of a statement; it may have none. */
  #edges(first: readonly string[], scope: Scope, { line, column }: Place): void {
    const ends = [first];
    while (this.#isEdge()) {
      this.#take();
      ends.push(this.#end(scope));
    }
    if (ends.length === 1) {
      return;
    }
    const attributes = new Map([...scope.edge, ...this.#attributeLists('edge', scope)]);
    ends.slice(1).forEach((targets, index) => {
      for (const from of ends[index] ?? []) {
        for (const to of targets) {
          assertRoom('edges', this.#graph.edges.length);
          this.#graph.edges.push({ from, to, attributes, place: { line, column } });
        }
      }
    });
  }

  #end(scope: Scope): readonly string[] {
    if (this.#isSign('{') || this.#isKeyword('subgraph')) {
      return this.#subgraph(scope);
    }
    const at = this.#next;
    const node = this.#id('a node or a subgraph').normalize('NFC');
    this.#port();
    this.#mention(node, scope, at);
    return [node];
  }

  /** The nodes that a subgraph mentions. */
  #subgraph(scope: Scope): readonly string[] {
    if (this.#takeKeyword('subgraph') && !this.#isSign('{')) {
      this.#id('a name or {');
    }
    const { node, edge, depth } = scope;
    const inner = { node: new Map(node), edge: new Map(edge), mentioned: new Set<string>(), depth: depth + 1 };
    this.#statements(inner);
    inner.mentioned.forEach((id) => scope.mentioned.add(id));
    return [...inner.mentioned];
  }

  /** Attributes are few: unknown ones, which could be many, are none of them. */
  #attributeLists(owner: AttributeOwner, scope: Scope): Map<string, string> {
    const attributes = new Map<string, string>();
    while (this.#takeSign('[')) {
      while (!this.#takeSign(']')) {
        const at = this.#next;
        const name = this.#id('an attribute or ]');
        this.#sign('=');
        const value = this.#id('a value');
        if (this.#isMeant(owner, { ...at, value: name }, scope)) {
          attributes.set(name, value);
        }
        if (!this.#takeSign(',')) {
          this.#takeSign(';');
        }
      }
    }
    return attributes;
  }

  /** Whether an attribute has a meaning where it stands; when it has none, that is noted, unless it only changes the drawing. */
  #isMeant(owner: AttributeOwner, { value: name, line, column }: Token, { depth }: Scope): boolean {
    const known = isKnown(owner, name);
    if (known && (owner !== 'graph' || depth === 0)) {
      return true;
    }
    if (known && !ofWholeGraph.has(name)) {
      return false;
    }
    if (this.#graph.problems.length < maxProblems) {
      const shown = JSON.stringify(cut(name, 64));
      const problem = known
        ? `${shown} belongs to the graph, not to a subgraph`
        : `${shown} is no attribute of ${owners[owner]}`;
      this.#graph.problems.push(`L${placeOf({ line, column }).slice(1)}: ${problem}.`);
    }
    return false;
  }

  #mention(id: string, scope: Scope, at: Place): void {
    scope.mentioned.add(id);
    if (!this.#graph.nodes.has(id)) {
      assertRoom('nodes', this.#graph.nodes.size);
      this.#graph.places.set(id, at);
      this.#graph.nodes.set(id, new Map(scope.node));
    }
  }

  /** Where an edge meets its node is a matter of the drawing. */
  #port(): void {
    while (this.#takeSign(':')) {
      this.#id('a port');
    }
  }

  #isEdge(): boolean {
    if (this.#isSign('--')) {
      unreadable('a workflow is a directed graph: write ->', this.#next);
    }
    return this.#isSign('->');
  }

  /** A name, a number, or quoted texts joined with `+`. */
  #id(expected: string): string {
    const { kind, value } = this.#next;
    if (kind === 'sign' || kind === 'end' || (kind === 'id' && keywords.has(value.toLowerCase()))) {
      this.#expected(expected);
    }
    this.#take();
    const parts = [value];
    while (kind === 'text' && this.#takeSign('+')) {
      if (this.#next.kind !== 'text') {
        this.#expected('a quoted text behind +');
      }
      parts.push(this.#take().value);
    }
    return parts.join('');
  }

  #take(): Token {
    const token = this.#next;
    this.#next = this.#tokens.next().value;
    return token;
  }

  #isSign = (sign: string): boolean => this.#next.kind === 'sign' && this.#next.value === sign;

  #takeSign(sign: string): boolean {
    const found = this.#isSign(sign);
    if (found) {
      this.#take();
    }
    return found;
  }

  #sign(sign: string): void {
    if (!this.#takeSign(sign)) {
      this.#expected(sign);
    }
  }

  #isKeyword = (word: string): boolean => this.#next.kind === 'id' && this.#next.value.toLowerCase() === word;

  #takeKeyword(word: string): boolean {
    const found = this.#isKeyword(word);
    if (found) {
      this.#take();
    }
    return found;
  }

  #expected(what: string): never {
    const { kind, value } = this.#next;
    const found = kind === 'end' ? value : JSON.stringify(cut(value, 40));
    return unreadable(`expected ${what}, found ${found}`, this.#next);
  }
}

/** Refuses one more of these while the text is read: a few characters can stand for millions of edges. @throws GraphError */
function assertRoom(kind: 'nodes' | 'edges', count: number): void {
  if (count >= graphLimits[kind]) {
    throw new GraphError([`A graph may have at most ${graphLimits[kind]} ${kind}.`]);
  }
}
