import { condition } from '@temporalio/workflow';
import { type GraphNode, runLimits, workOf } from '../../graph/graph';
import { SuspendedError } from '../execution/continuation';
import { RunFailedError } from '../execution/run-failed';
import type { StageContext } from '../execution/stages';

type Asked = Pick<GraphNode, 'id' | 'kind' | 'map'>;

/**
 * Waits while the run is paused.
 *
 * @throws SuspendedError when the execution continues as new
 */
export async function untilMayBegin({ progress, isPaused, continuation, walkers }: StageContext): Promise<void> {
  if (isPaused()) {
    await progress.flush();
    await walkers.rest(() => condition(() => !isPaused() || continuation.isDue));
  }
  if (continuation.isDue) {
    throw new SuspendedError();
  }
}

/** @throws RunFailedError for a stage beyond what a run may have */
export function assertFewStages({ progress }: Pick<StageContext, 'progress'>): void {
  if (progress.steps >= runLimits.stages) {
    throw new RunFailedError(`It has visited ${runLimits.stages} nodes, which is the most a run may visit.`);
  }
}

const usesBudget = (node: Asked): boolean => ['prompt', 'agent'].includes(workOf(node));

/** @throws RunFailedError for a prompt that the budget of the run has nothing left for */
export function assertWithinBudget(
  node: Asked,
  {
    graph: { budget },
    progress: { used },
  }: Pick<StageContext, 'graph'> & { progress: { used: { tokens: number; cost: number } } },
): void {
  if (usesBudget(node)) {
    assertWithin(budget ?? {}, used, { whose: 'It has', id: node.id });
  }
}

/** @throws RunFailedError for a prompt that a budget which the run shares with others has nothing left for */
export async function assertWithinTree(node: Asked, { runId, progress, tree }: StageContext): Promise<void> {
  if (tree.budgets.length === 0 || !usesBudget(node)) {
    return;
  }
  // What it has used itself is stored before the sums are read.
  await progress.flush();
  const sums = await tree.usage();
  for (const budget of tree.budgets) {
    const used = sums[budget.run_id] ?? { tokens: 0, cost: 0 };
    const whose = budget.run_id === runId ? 'It has with its child runs' : `The tree of run ${budget.run_id} has`;
    assertWithin(budget, used, { whose, id: node.id });
  }
}

function assertWithin(
  budget: { tokens?: number; cost?: number },
  used: { tokens: number; cost: number },
  { whose, id }: { whose: string; id: string },
): void {
  if (budget.tokens !== undefined && used.tokens >= budget.tokens) {
    throw new RunFailedError(`${whose} used ${used.tokens} of ${budget.tokens} tokens, so that ${id} is not asked.`);
  }
  if (budget.cost !== undefined && used.cost >= budget.cost) {
    throw new RunFailedError(`${whose} used $${used.cost.toFixed(4)} of $${budget.cost}, so that ${id} is not asked.`);
  }
}
