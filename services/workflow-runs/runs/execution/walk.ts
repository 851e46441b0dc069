import { patched } from '@temporalio/workflow';
import type { GraphEdge, GraphNode } from '../../graph/graph';
import { runLimits } from '../../graph/graph';
import { joinOf } from '../../graph/structure';
import { hasChange } from '../changes';
import { joined, walkUntilDecided } from '../stages/joins';
import { assertFewStages, assertWithinBudget, assertWithinTree, untilMayBegin } from '../stages/may-begin';
import { SuspendedError } from './continuation';
import type { Branch, Cursor } from './cursor';
import { chooseEdge, type Outcome } from './edges';
import { RunFailedError } from './run-failed';
import { type StageContext, visit } from './stages';

export interface Walk extends StageContext {
  /** How often each edge was taken. */
  traversals: Map<GraphEdge, number>;
}

/** The record is written at least once for so many stages: nodes that wait for nothing may follow each other for long. */
const stagesPerUpdate = 100;

const success: Outcome = { outcome: 'success' };

/**
 * Goes from node to node until an end, or the join at which the branches of a parallel node meet.
 *
 * @param cursor where it is, which moves on
 * @returns how it came to that join, or the end
 * @throws RunFailedError when there is no way on
 * @throws SuspendedError when the execution continues as new; the cursor is where it stopped
 */
export async function walk(cursor: Cursor, run: Walk, untilJoin?: string): Promise<Outcome> {
  const { graph, progress } = run;
  for (;;) {
    if (cursor.at === untilJoin) {
      return success;
    }
    const node = graph.nodes[cursor.at];
    if (!node) {
      throw new RunFailedError(`There is no node ${cursor.at}.`);
    }
    if (!cursor.underWay && !cursor.branches) {
      await untilMayBegin(run);
      assertMayVisit(node, run);
      assertWithinBudget(node, run);
      if (run.tree.budgets.length > 0) {
        await assertWithinTree(node, run);
      }
    }
    const outcome = cursor.branches ? success : await visit(node, run, cursor);
    if (node.kind === 'exit') {
      return outcome;
    }
    if (node.kind === 'fail') {
      throw new RunFailedError(`It came to ${node.label}.`);
    }
    const left = node.kind === 'parallel' ? await branchOut(cursor, run) : { at: node.id, outcome };
    const edge = chooseEdge(graph, left.at, {
      outcome: left.outcome,
      values: progress.context,
      isOpen: (each) => (run.traversals.get(each) ?? 0) < (each.maxTraversals ?? Infinity),
      reads: {
        exponents: () => patched('numbers-with-exponents'),
        items: () => patched('items-of-lists'),
      },
    });
    if (!edge) {
      throw new RunFailedError(left.outcome.reason ?? `No edge leads on from ${left.at}.`);
    }
    run.traversals.set(edge, (run.traversals.get(edge) ?? 0) + 1);
    progress.checkpoint(left.at, { next: edge.to, id: visitOf(cursor, left.at, progress) });
    cursor.at = edge.to;
    if (progress.steps % stagesPerUpdate === 0 && hasChange('update-of-stages')) {
      await progress.flush();
    }
  }
}

/** @throws RunFailedError */
function assertMayVisit({ id, maxVisits }: GraphNode, { graph, progress }: Walk): void {
  assertFewStages({ progress });
  const limit = maxVisits ?? graph.loopLimit;
  if (progress.visitsOf(id) >= (limit ?? runLimits.usualVisits)) {
    throw new RunFailedError(
      limit === undefined
        ? `It came to ${id} more than ${runLimits.usualVisits} times: it goes in circles. Set max_visits or loop_limit if it is meant to.`
        : `It came to ${id} more than ${limit} times, which is its limit.`,
    );
  }
}

/** Walks every branch of a parallel node at the same time, and continues behind the join when all have reached it. */
async function branchOut(cursor: Cursor, run: Walk): Promise<{ at: string; outcome: Outcome }> {
  const { graph, progress, walkers } = run;
  const parallel = cursor.at;
  const join = joinOf(graph, parallel);
  const joinNode = join === undefined ? undefined : graph.nodes[join];
  if (join === undefined || !joinNode) {
    throw new RunFailedError(`The branches of ${parallel} do not meet.`);
  }
  const of = visitOf(cursor, parallel, progress);
  const branches = cursor.branches ?? begin(parallel, of, run);
  cursor.branches = branches;
  const walkOne = (branch: Branch): Promise<void> =>
    walkers.count(() => walkBranch(branch, { run, join, parallel, of: keyOf(branch, branches, of) }));
  const options = graph.nodes[parallel]?.parallel;
  const ended = await walkers.rest(() =>
    options ? walkUntilDecided(options, branches, walkOne) : Promise.allSettled(branches.map(walkOne)),
  );
  const broken = ended.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  if (broken.length > 0) {
    throw broken.find((error) => !(error instanceof SuspendedError)) ?? broken[0];
  }
  delete cursor.branches;
  const outcome = joined(options ?? {}, branches);
  const isSuccess = outcome.outcome === 'success';
  progress.record({ ParallelCompleted: { node_id: parallel, success: isSuccess } }, of);
  await visit(joinNode, run, cursor);
  return { at: join, outcome: isSuccess ? success : outcome };
}

/** Other branches may visit the node at the same time: it is the visit of this walk. */
const visitOf = ({ visit }: Cursor, nodeId: string, progress: Walk['progress']): string =>
  visit ?? progress.visit(nodeId);

/** What the end of a branch is an event of: several edges may lead to the node that it begins with. */
function keyOf(branch: Branch, branches: readonly Branch[], of: string): string {
  const alike = branches.filter(({ name }) => name === branch.name).indexOf(branch);
  return `${of}/${branch.name}${alike > 0 ? `/${alike}` : ''}`;
}

function begin(parallel: string, of: string, { graph, progress }: Walk): Branch[] {
  const branches = graph.edges.filter((edge) => edge.from === parallel).map((edge) => edge.to);
  progress.record({ ParallelStarted: { node_id: parallel, branches } }, of);
  return branches.map((name) => ({ name, cursor: { at: name } }));
}

/** A branch that cannot continue does not take the others with it. */
async function walkBranch(
  branch: Branch,
  { run, parallel, join, of }: { run: Walk; parallel: string; join: string; of: string },
): Promise<void> {
  if (branch.outcome ?? branch.cancelled) {
    return;
  }
  try {
    branch.outcome = await walk(branch.cursor, run, join);
  } catch (error) {
    if (!(error instanceof RunFailedError)) {
      throw error;
    }
    branch.outcome = { outcome: 'fail', reason: error.message };
  }
  const success = branch.outcome.outcome === 'success';
  run.progress.record({ ParallelBranchCompleted: { node_id: parallel, branch: branch.name, success } }, of);
}
