import type { BreakerSignal, ControlRequest, TreeSummary } from '../../../contracts/runs/admission';
import { breakerSignals } from '../../../domain/admission/breaker';
import { budgetSignals } from '../../../domain/admission/budget';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import { textDigest } from '../../../platform/json/digest';
import type { ControlNote, TreeRecord } from '../../../stores/runs/admission/tree-store';
import { budgetsOfTree } from '../../../stores/runs/admission/tree-telemetry';
import { idempotencyKeyReused } from '../idempotency-key';
import type { AdmissionContext } from './context';
import { policiesOfTree, summarise } from './tree-summary';

/** A command to a tree, by whom, and how many contributors the summary that answers it lists. */
export interface TreeControl extends ControlRequest {
  actor: string;
  limit: number;
}

/**
 * Lets a paused tree grow again, if no reason for the pause still applies.
 *
 * @throws AppError 404; 409 `EXECUTION_TREE_RESUME_BLOCKED`, `EXECUTION_TREE_CANCELLED` or `EXECUTION_TREE_NOT_PAUSED`
 */
export async function resumeTree(
  context: AdmissionContext,
  id: string,
  { idempotencyKey, reason, actor, limit }: TreeControl,
): Promise<TreeSummary> {
  const { tree, keyHash } = await addressed(context, id, idempotencyKey);
  if (isRepeated(tree, { keyHash, reason, action: 'resume' })) {
    return (await summarise(context, id, { limit })).summary;
  }
  if (tree.state === 'paused') {
    const signals = await unsafeSignals(context, tree);
    if (signals.length > 0) {
      const code = 'EXECUTION_TREE_RESUME_BLOCKED';
      throw conflict(
        'The cause of the pause persists: wait, or raise the limit.',
        { code, rootObjectiveId: id, signals, retryable: true },
        code,
      );
    }
    const note = { action: 'resume' as const, actor, reason, at: context.now().toISOString(), keyHash };
    if (await context.trees.resume(id, note)) {
      return (await summarise(context, id, { limit })).summary;
    }
  }
  const state = (await context.trees.get(id))?.state;
  const code = state === 'cancelled' ? 'EXECUTION_TREE_CANCELLED' : 'EXECUTION_TREE_NOT_PAUSED';
  throw conflict(`Only a paused tree can be resumed; this one is ${state ?? 'missing'}.`, { code, state }, code);
}

/** Cancels a tree for good and returns once nothing is launched in it any more. @throws AppError 404 */
export async function cancelTree(
  context: AdmissionContext,
  id: string,
  { idempotencyKey, reason, actor, limit }: TreeControl,
): Promise<TreeSummary> {
  const { tree, keyHash } = await addressed(context, id, idempotencyKey);
  const done = isRepeated(tree, { keyHash, reason, action: 'cancel' }) || tree.state === 'cancelled';
  // Cancelled and not yet at its end, it is signalled again: its workflow may have been lost.
  if (!done || !tree.drained) {
    await context.admissionLauncher.cancelTree({ rootObjectiveId: id, actor, reason, keyHash });
  }
  return (await summarise(context, id, { limit })).summary;
}

/** The tree of a command, and the hash under which its key is stored. @throws AppError 404 */
async function addressed({ trees }: AdmissionContext, id: string, idempotencyKey: string) {
  const tree = await trees.get(id);
  assertFound(tree, 'execution tree', id);
  return { tree, keyHash: textDigest(idempotencyKey) };
}

type Command = Pick<ControlNote, 'action' | 'reason'> & { keyHash: string };

/** @throws AppError 409 when the key was used for another command, or for the latest one with another reason */
function isRepeated({ said: recorded, control, _id }: TreeRecord, { keyHash, action, reason }: Command): boolean {
  const earlier = recorded[keyHash];
  if (!earlier) {
    return false;
  }
  if (earlier.action !== action) {
    throw idempotencyKeyReused('action', { rootObjectiveId: _id, action: earlier.action });
  }
  if (control?.keyHash === keyHash && control.reason !== reason) {
    const { keyHash: _hash, ...latest } = control;
    throw idempotencyKeyReused('action', { rootObjectiveId: _id, control: latest });
  }
  return true;
}

async function unsafeSignals(context: AdmissionContext, tree: TreeRecord): Promise<BreakerSignal[]> {
  const { admission } = (await context.settings.read()).features;
  const [usage, { reserved }, queuedDescendants, policies, budgets] = await Promise.all([
    context.reservations.usage(),
    context.reservations.sumsOfTree(tree._id),
    context.queue.depthOfTree(tree._id),
    policiesOfTree(context, admission, tree),
    budgetsOfTree(context.telemetry, admission.treeBudget, tree),
  ]);
  const load = {
    descendants: tree.descendants,
    // How deep a launch is concerns that launch alone.
    depth: 0,
    activeReservations: reserved.runs,
    queuedDescendants,
  };
  return [
    ...breakerSignals(admission.fanOutBreaker, load, { policies, usage, requested: admission.request }),
    ...budgetSignals(admission.fanOutBreaker, { rootObjectiveId: tree._id, descendants: tree.descendants }, budgets),
  ];
}
