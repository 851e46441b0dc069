import type { Refusal } from '../../../contracts/refusal';
import type { BreakerSignal } from '../../../contracts/runs/admission';
import type { AdmissionSettings } from '../../../contracts/settings/settings';
import { breakerSignals, type TreeLoad } from '../../../domain/admission/breaker';
import { budgetSignals, type BudgetUse, exhaustedBudget } from '../../../domain/admission/budget';
import { budgetTrace } from '../../../domain/admission/budget-trace';
import type { CapacityPolicy, Usage } from '../../../domain/admission/capacity';
import type { AdmissionRequest } from '../../../domain/admission/request';
import { refusal } from '../../../domain/refusal';
import type { TreeRecord } from '../../../stores/runs/admission/tree-store';
import { budgetsOfTree } from '../../../stores/runs/admission/tree-telemetry';
import type { AdmissionControl } from './dependencies';

/** How often the breaker is evaluated again when others change the same tree. */
const tries = 20;

/**
 * Admits a launch to its execution tree, or returns why not. A cancelled tree accepts nothing, ever. A paused one does not
 * grow. One that would grow beyond what the breaker allows is paused here.
 */
export async function enterTree(
  deps: Pick<AdmissionControl, 'trees' | 'queue' | 'reservations' | 'telemetry' | 'traces' | 'log' | 'now'>,
  request: AdmissionRequest,
  { settings, policies }: { settings: AdmissionSettings; policies: CapacityPolicy[] },
): Promise<Refusal | undefined> {
  if (request.edge === 'root') {
    const tree = await deps.trees.open(request);
    return tree.state === 'cancelled' ? cancelledTree(tree) : undefined;
  }
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const tree = await deps.trees.get(request.rootObjectiveId);
    if (!tree) {
      // A launch from before there were trees has one from here on.
      await deps.trees.open({
        ...request,
        nodeId: request.rootObjectiveId,
        parentNodeId: null,
        edge: 'root',
        depth: 0,
      });
      continue;
    }
    if (tree.state === 'cancelled') {
      return cancelledTree(tree);
    }
    if (tree.nodes[request.nodeId]) {
      return undefined;
    }
    const budgets = await budgetsOfTree(deps.telemetry, settings.treeBudget, tree);
    if (tree.state === 'paused') {
      await traceBudget(deps, request, { budgets, signals: tree.signals });
      return pausedTree(tree, tree.signals, settings);
    }

    const usage = await deps.reservations.usage();
    const signals = await signalsOf(deps, settings, { tree, request, policies, usage, budgets });
    await traceBudget(deps, request, { budgets, signals });
    if (signals.length > 0) {
      await pauseTree(deps, tree._id, signals);
      continue;
    }
    const limit = settings.fanOutBreaker.enabled ? settings.fanOutBreaker.maxDescendants : Number.MAX_SAFE_INTEGER;
    if (await deps.trees.register(request, limit)) {
      return undefined;
    }
  }
  throw new Error(`The execution tree ${request.rootObjectiveId} kept changing. Try again.`);
}

/** Stops the growth of a tree; what made it is in its control. */
export async function pauseTree(
  { trees, log, now }: Pick<AdmissionControl, 'trees' | 'log' | 'now'>,
  rootObjectiveId: string,
  signals: BreakerSignal[],
): Promise<void> {
  const names = signals.map(({ signal }) => signal).join(', ');
  const why = exhaustedBudget(signals) ? 'The budget of the tree is used up' : 'The tree grew too fast';
  await trees.pause(rootObjectiveId, signals, {
    action: 'pause',
    actor: 'system:breaker',
    reason: `${why}: ${names}.`,
    at: now().toISOString(),
    keyHash: null,
  });
  log.warn({ rootObjectiveId, signals }, 'execution tree paused by breaker');
}

/** Records how the budgets of a tree judged one more node; a tree without budgets has no trace. */
export async function traceBudget(
  { traces }: Pick<AdmissionControl, 'traces'>,
  request: AdmissionRequest,
  { budgets, signals }: { budgets: readonly BudgetUse[]; signals: readonly BreakerSignal[] },
): Promise<void> {
  if (budgets.length > 0) {
    await traces.record(budgetTrace(request, budgets, signals));
  }
}

/** One more node of a tree, and what it is judged on. */
interface Growth {
  tree: TreeRecord;
  request: Pick<AdmissionRequest, 'depth' | 'requested'>;
  policies: CapacityPolicy[];
  usage: Usage;
  budgets: readonly BudgetUse[];
}

/** The signals of the breaker for one more node. */
async function signalsOf(
  deps: Pick<AdmissionControl, 'queue' | 'reservations'>,
  settings: AdmissionSettings,
  { tree, request, policies, usage, budgets }: Growth,
): Promise<BreakerSignal[]> {
  const load: TreeLoad = {
    descendants: tree.descendants,
    depth: request.depth,
    activeReservations: (await deps.reservations.sumsOfTree(tree._id)).reserved.runs,
    queuedDescendants: await deps.queue.depthOfTree(tree._id),
  };
  const { _id: rootObjectiveId, descendants } = tree;
  return [
    ...breakerSignals(settings.fanOutBreaker, load, { policies, usage, requested: request.requested }),
    ...budgetSignals(settings.fanOutBreaker, { rootObjectiveId, descendants }, budgets),
  ];
}

export const budgetMessage =
  'The execution tree of this launch has used up its budget; raise it, then resume the tree.';

function cancelledTree({ _id: rootObjectiveId, control }: TreeRecord): Refusal {
  const code = 'EXECUTION_TREE_CANCELLED';
  return refusal(code, 'The execution tree of this launch was cancelled; start a new one.', {
    code,
    rootObjectiveId,
    cancelledAt: control?.at,
    retryable: false,
  });
}

function pausedTree(
  { _id: rootObjectiveId }: TreeRecord,
  signals: BreakerSignal[],
  { retryAfterMs }: AdmissionSettings,
): Refusal {
  const exhausted = exhaustedBudget(signals);
  if (exhausted) {
    const { scope, scopeId, budget } = exhausted;
    const code = 'ADMISSION_BUDGET_EXHAUSTED';
    return refusal(code, budgetMessage, {
      code,
      rootObjectiveId,
      scope,
      scopeId,
      budget,
      signals,
      retryable: false,
    });
  }
  const code = 'EXECUTION_TREE_EXPANSION_PAUSED';
  return refusal(
    code,
    'The execution tree of this launch is paused; resume it with POST /api/admission/tree/:rootObjectiveId/resume.',
    { code, rootObjectiveId, signals, retryable: true, retryAfterMs },
  );
}
