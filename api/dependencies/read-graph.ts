import { taskLocation } from '../../contracts/task';
import type { Board } from '../../stores/board-files/types';
import { taskGraph, type TaskGraph } from './graph';

/** Reads the graph from the board's memory; it is put together once per change of the board. */
export function createGraphReader(board: Pick<Board, 'list' | 'version'>): () => TaskGraph {
  let known: { version: number; graph: TaskGraph } | undefined;
  return () => {
    if (known?.version !== board.version) known = { version: board.version, graph: readGraph(board) };
    return known.graph;
  };
}

const readGraph = (board: Pick<Board, 'list'>): TaskGraph =>
  taskGraph(
    taskLocation.options.flatMap((location) =>
      // One page of every task: the limit of answers does not hold for what is only looked through.
      board.list({ limit: Number.MAX_SAFE_INTEGER }, location).tasks.map((task) => ({ task, location })),
    ),
  );
