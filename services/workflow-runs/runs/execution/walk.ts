import { condition } from '@temporalio/workflow';
import type { Graph, GraphEdge } from '../../graph/graph';
import { joinOf } from '../../graph/structure';
import { chooseEdge, type Outcome } from './edges';
import { type StageContext, visit } from './stages';

export interface Walk extends StageContext {
  graph: Graph;
  /** Whether the run is paused: no further node is begun meanwhile. */
  isPaused: () => boolean;
  /** How often each edge was taken. */
  traversals: Map<GraphEdge, number>;
}

/** Why a run cannot continue. */
export class RunFailedError extends Error {
  override readonly name = 'RunFailedError';
}

/** A run that has visited this many nodes goes in circles. */
const maxSteps = 500;

/**
 * Goes from node to node until an end, or the join at which the branches of a parallel node meet.
 *
 * @returns how it came to that join, or the end
 * @throws RunFailedError when there is no way on
 */
export async function walk(from: string, run: Walk, untilJoin?: string): Promise<Outcome> {
  const { graph, progress } = run;
  for (let id = from; ;) {
    if (id === untilJoin) {
      return { outcome: 'success' };
    }
    if (run.isPaused()) {
      await progress.flush();
      await condition(() => !run.isPaused());
    }
    const node = graph.nodes[id];
    if (!node) {
      throw new RunFailedError(`There is no node ${id}.`);
    }
    if (progress.steps >= maxSteps) {
      throw new RunFailedError(`It has visited ${maxSteps} nodes: it goes in circles.`);
    }
    const maxVisits = node.maxVisits ?? graph.loopLimit;
    if (maxVisits !== undefined && progress.visitsOf(id) >= maxVisits) {
      throw new RunFailedError(`It came to ${id} more than ${maxVisits} times, which is its limit.`);
    }
    const outcome = await visit(node, run);
    if (node.kind === 'exit') {
      return outcome;
    }
    if (node.kind === 'fail') {
      throw new RunFailedError(`It came to ${node.label}.`);
    }
    const left = node.kind === 'parallel' ? await branchOut(id, run) : { at: id, outcome };
    const edge = chooseEdge(graph, left.at, {
      outcome: left.outcome,
      values: progress.context,
      isOpen: (each) => (run.traversals.get(each) ?? 0) < (each.maxTraversals ?? Infinity),
    });
    if (!edge) {
      throw new RunFailedError(left.outcome.reason ?? `No edge leads on from ${left.at}.`);
    }
    run.traversals.set(edge, (run.traversals.get(edge) ?? 0) + 1);
    progress.checkpoint(left.at, edge.to);
    id = edge.to;
  }
}

/** Walks every branch of a parallel node at the same time, and continues behind the join when all have reached it. */
async function branchOut(parallel: string, run: Walk): Promise<{ at: string; outcome: Outcome }> {
  const { graph, progress } = run;
  const join = joinOf(graph, parallel);
  const joinNode = join === undefined ? undefined : graph.nodes[join];
  if (join === undefined || !joinNode) {
    throw new RunFailedError(`The branches of ${parallel} do not meet.`);
  }
  const branches = graph.edges.filter((edge) => edge.from === parallel).map((edge) => edge.to);
  progress.tell({ ParallelStarted: { node_id: parallel, branches } });
  const outcomes = await Promise.all(
    branches.map(async (branch) => {
      const outcome = await branchOutcome(branch, run, join);
      const success = outcome.outcome === 'success';
      progress.tell({ ParallelBranchCompleted: { node_id: parallel, branch, success } });
      return outcome;
    }),
  );
  const failed = outcomes.find(({ outcome }) => outcome === 'fail');
  progress.tell({ ParallelCompleted: { node_id: parallel, success: !failed } });
  await visit(joinNode, run);
  return { at: join, outcome: failed ?? { outcome: 'success' } };
}

/** A branch that cannot continue does not take the others with it. */
async function branchOutcome(branch: string, run: Walk, join: string): Promise<Outcome> {
  try {
    return await walk(branch, run, join);
  } catch (error) {
    if (error instanceof RunFailedError) {
      return { outcome: 'fail', reason: error.message };
    }
    throw error;
  }
}
