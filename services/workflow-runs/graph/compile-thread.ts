/** The thread that reads graphs: the entry point that `graph-compiler.ts` starts. */
import { compileGraph, GraphError } from './compile';
import type { Graph } from './graph';

/** Either a graph or what is wrong with its text. */
export type Compiled = { graph: Graph } | { problems: readonly string[] };

export default function compile(source: string): Compiled {
  try {
    return { graph: compileGraph(source) };
  } catch (error) {
    if (error instanceof GraphError) {
      return { problems: error.problems };
    }
    throw error;
  }
}
