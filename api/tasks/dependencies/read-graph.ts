import type { Board } from '../../../stores/board-files/types';
import { listAllTasks } from '../tasks/list-all-tasks';
import { type TaskGraph, taskGraph } from './graph';

/** Reads the graph from the board's memory; it is put together once per change of the board. */
export function createGraphReader(board: Pick<Board, 'list' | 'version'>): () => TaskGraph {
  let cached: { version: number; graph: TaskGraph } | undefined;
  return () => {
    if (cached?.version !== board.version) {
      cached = { version: board.version, graph: taskGraph(listAllTasks(board)) };
    }
    return cached.graph;
  };
}
