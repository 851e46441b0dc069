import type { Board } from '../../stores/board-files/types';
import { everyTask } from '../tasks/every-task';
import { taskGraph, type TaskGraph } from './graph';

/** Reads the graph from the board's memory; it is put together once per change of the board. */
export function createGraphReader(board: Pick<Board, 'list' | 'version'>): () => TaskGraph {
  let known: { version: number; graph: TaskGraph } | undefined;
  return () => {
    if (known?.version !== board.version) known = { version: board.version, graph: taskGraph(everyTask(board)) };
    return known.graph;
  };
}
