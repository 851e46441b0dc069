import { compact } from '../../../platform/json/compact';
import { type Graph, type GraphNode, workOf } from '../graph/graph';

/** What nodes of a run have that do not set it themselves. */
export interface RunDefaults {
  /** Of prompts that name no model. */
  llm?: { model: string; provider: string; fallbacks: string[] };
  /** The preset of commands, those of the setup and the hooks included. */
  sandbox?: string;
  /** Where in the workspace commands are started, those of the setup and the hooks included. */
  directory?: string;
}

/** The nodes that a default is for, by its name. */
export const isForDefault = {
  llm: (node: GraphNode): boolean => workOf(node) === 'prompt' && node.model === undefined,
  sandbox: ({ command }: GraphNode): boolean => command !== undefined && command.sandbox === undefined,
  directory: ({ command }: GraphNode): boolean => command !== undefined && command.directory === undefined,
};

/** The graph with the defaults of a run in its nodes. */
export function withDefaults(graph: Graph, defaults: RunDefaults | undefined): Graph {
  if (!defaults) {
    return graph;
  }
  const nodes = Object.entries(graph.nodes).map(([id, node]) => [id, completed(node, defaults)] as const);
  return { ...graph, nodes: Object.fromEntries(nodes) };
}

function completed(node: GraphNode, { llm, sandbox, directory }: RunDefaults): GraphNode {
  const { command, fallbackModels = llm?.fallbacks } = node;
  return {
    ...node,
    ...(llm && isForDefault.llm(node) && { model: llm.model, ...compact({ fallbackModels }) }),
    ...(command && { command: { ...compact({ directory, sandbox }), ...command } }),
  };
}
