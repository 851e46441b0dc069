import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { ParallelNode } from '../../graph/graph';
import type { Branch } from '../execution/cursor';
import type { Outcome } from '../execution/edges';

const success: Outcome = { outcome: 'success' };

/** Whether the branches that have ended decide how all of them come to their join, so that the others are cancelled. */
const isDecided = ({ completion, failFast }: ParallelNode, branches: readonly Branch[]): boolean =>
  branches.some(({ outcome }) =>
    outcome?.outcome === 'success' ? completion === 'any' : outcome?.outcome === 'fail' && failFast === true,
  );

/** How branches that have ended come to their join. */
export function joined({ completion }: ParallelNode, branches: readonly Branch[]): Outcome {
  if (completion === 'any' && branches.some(({ outcome }) => outcome?.outcome === 'success')) {
    return success;
  }
  return branches.find(({ outcome }) => outcome?.outcome === 'fail')?.outcome ?? success;
}

/**
 * Walks branches at the same time, until one of them decides: the others are cancelled then, with what they have under way.
 *
 * @throws Error what a branch came to that could not go on, and the cancellation of the run
 */
export function walkUntilDecided(
  parallel: ParallelNode,
  branches: readonly Branch[],
  walk: (branch: Branch) => Promise<void>,
): Promise<PromiseSettledResult<void>[]> {
  const whole = CancellationScope.current();
  const scopes = branches.map(() => new CancellationScope());
  const walkOne = async (branch: Branch, scope: CancellationScope): Promise<void> => {
    try {
      await scope.run(() => walk(branch));
    } catch (error) {
      if (!isCancellation(error) || !isDecided(parallel, branches) || whole.consideredCancelled) {
        throw error;
      }
      branch.cancelled = true;
    }
    if (isDecided(parallel, branches)) {
      scopes.filter((_scope, at) => !hasEnded(branches[at])).forEach((each) => each.cancel());
    }
  };
  return Promise.allSettled(branches.map((branch, at) => walkOne(branch, scopes[at] as CancellationScope)));
}

const hasEnded = (branch: Branch | undefined): boolean =>
  branch === undefined || branch.outcome !== undefined || branch.cancelled === true;
