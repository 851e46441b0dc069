import { GraphError } from '../../graph/compile';
import type { Graph } from '../../graph/graph';
import { GraphCompileError, type GraphCompiler } from '../../graph/graph-compiler';
import { refuse } from '../../http/errors';

/** @throws AppError 400 with every problem of the graph; 429 when too many are being read */
export async function readGraph(graphs: GraphCompiler, source: string): Promise<Graph> {
  try {
    return await graphs.compile(source);
  } catch (error) {
    if (error instanceof GraphError || error instanceof GraphCompileError) {
      throw refuse(400, error.message);
    }
    throw error;
  }
}
