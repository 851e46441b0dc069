import type { BreakerSignal, Capacity, ControlRequest, TreeSummary } from '../../contracts/admission';
import type { AdmissionSettings } from '../../contracts/settings';
import { assertFound, conflict } from '../../platform/errors/app-error';
import { breakerSignals } from '../../runs/admission/breaker';
import { nothing, plus, policiesOf, treeKey, type Policy } from '../../runs/admission/capacity';
import { textDigest } from '../../runs/digest';
import type { ReservationRecord } from '../../stores/reservation-store';
import type { TreeRecord } from '../../stores/tree-store';
import type { AdmissionContext } from './context';

/** How many nodes a summary counts together. */
const mostNodes = 1_000;

/** What a tree has used, what it holds, and what keeps it from growing. @throws AppError 404 */
export async function summarise(context: AdmissionContext, id: string, limit: number): Promise<TreeSummary> {
  const tree = await context.trees.get(id);
  assertFound(tree, 'execution tree', id);
  const { admission } = (await context.settings.read()).features;
  const [reservations, queued, usage, policies] = await Promise.all([
    context.reservations.list({ rootObjectiveId: id }, mostNodes),
    context.queue.openOfTree(id, mostNodes),
    context.reservations.usage(),
    policiesOfTree(context, admission, tree),
  ]);
  const active = reservations.filter(({ state }) => state === 'active');
  const reserved = sum(active.map(({ requested }) => requested));
  const contributors = contributorsOf(tree, reservations, new Set(queued.map(({ _id }) => _id)));
  return {
    schemaVersion: 'execution-tree-summary/v1',
    rootObjectiveId: id,
    workspaceId: tree.workspaceId,
    state: tree.state,
    ...(tree.control ? { control: controlOf(tree, tree.control) } : {}),
    descendants: tree.descendants,
    queued: queued.length,
    committed: sum(reservations.map(({ committed }) => committed)),
    reserved,
    policies: policies.map(({ policy, key, resource, limit: ceiling }) => {
      const used = usage[key]?.[resource] ?? 0;
      return {
        policy,
        used,
        reserved: reserved[resource],
        remaining: Math.max(0, ceiling - used),
        blocksNextLaunch: used + admission.request[resource] > ceiling,
      };
    }),
    contributors: contributors.slice(0, limit),
    contributorCount: contributors.length,
    truncated: contributors.length > limit || reservations.length === mostNodes,
    generatedAt: context.now().toISOString(),
  };
}

/**
 * Lets a paused tree grow again, if nothing that paused it still holds.
 *
 * @throws AppError 404; 409 `EXECUTION_TREE_RESUME_BLOCKED`, `EXECUTION_TREE_CANCELLED` or `EXECUTION_TREE_NOT_PAUSED`
 */
export async function resumeTree(
  context: AdmissionContext,
  id: string,
  { idempotencyKey, reason }: ControlRequest,
  actor: string,
  limit: number,
): Promise<TreeSummary> {
  const keyHash = textDigest(idempotencyKey);
  const tree = await context.trees.get(id);
  assertFound(tree, 'execution tree', id);
  if (wasSaid(tree, keyHash, 'resume')) return summarise(context, id, limit);
  if (tree.state === 'paused') {
    const signals = await unsafeSignals(context, tree);
    if (signals.length > 0) {
      const code = 'EXECUTION_TREE_RESUME_BLOCKED';
      throw conflict(
        'What paused the tree still holds.',
        { code, rootObjectiveId: id, signals, retryable: true },
        code,
      );
    }
    const note = { action: 'resume' as const, actor, reason, at: context.now().toISOString(), keyHash };
    if (await context.trees.resume(id, note)) return summarise(context, id, limit);
  }
  const state = (await context.trees.get(id))?.state;
  const code = state === 'cancelled' ? 'EXECUTION_TREE_CANCELLED' : 'EXECUTION_TREE_NOT_PAUSED';
  throw conflict(`Only a paused tree can be resumed; this one is ${state ?? 'gone'}.`, { code, state }, code);
}

/** Cancels a tree for good and answers once nothing is launched in it any more. @throws AppError 404 */
export async function cancelTree(
  context: AdmissionContext,
  id: string,
  { idempotencyKey, reason }: ControlRequest,
  actor: string,
  limit: number,
): Promise<TreeSummary> {
  const keyHash = textDigest(idempotencyKey);
  const tree = await context.trees.get(id);
  assertFound(tree, 'execution tree', id);
  const done = wasSaid(tree, keyHash, 'cancel') || tree.state === 'cancelled';
  // Cancelled and not yet at its end, it is told again: its workflow may have been lost.
  if (!done || !tree.drained) await context.launcher.cancelTree({ rootObjectiveId: id, actor, reason, keyHash });
  return summarise(context, id, limit);
}

/** @throws AppError 409 when the key was used to say something else */
function wasSaid({ said, _id }: TreeRecord, keyHash: string, action: 'resume' | 'cancel'): boolean {
  const earlier = said[keyHash];
  if (!earlier) return false;
  if (earlier.action === action) return true;
  const details = { rootObjectiveId: _id, action: earlier.action };
  throw conflict('The idempotency key was used for another action.', details, 'IDEMPOTENCY_KEY_REUSED');
}

async function unsafeSignals(context: AdmissionContext, tree: TreeRecord): Promise<BreakerSignal[]> {
  const { admission } = (await context.settings.read()).features;
  const [usage, queuedDescendants, policies] = await Promise.all([
    context.reservations.usage(),
    context.queue.depthOfTree(tree._id),
    policiesOfTree(context, admission, tree),
  ]);
  const load = {
    descendants: tree.descendants,
    // How deep a launch is concerns that launch alone.
    depth: 0,
    activeReservations: usage[treeKey(tree._id)]?.runs ?? 0,
    queuedDescendants,
  };
  return breakerSignals(admission.fanOutBreaker, load, { policies, usage, requested: admission.request });
}

/** The ceilings of the tree's root. */
async function policiesOfTree(
  { requests, hosts }: AdmissionContext,
  settings: AdmissionSettings,
  tree: TreeRecord,
): Promise<Policy[]> {
  const root = await requests.get(tree._id);
  if (!root) return [];
  const runs = root.hostId === null ? undefined : (await hosts.capacityOf(root.hostId)).runs;
  return policiesOf(settings, root, runs);
}

const sum = (capacities: Capacity[]): Capacity => capacities.reduce(plus, nothing);

function controlOf(tree: TreeRecord, control: NonNullable<TreeRecord['control']>): TreeSummary['control'] {
  const { action, actor, reason, at } = control;
  return {
    schemaVersion: 'execution-tree-control/v1',
    state: tree.state,
    revision: tree.revision,
    action,
    actor,
    reason,
    at,
    signals: tree.signals,
    ...(tree.state === 'cancelled' ? { drained: tree.drained !== undefined } : {}),
    ...(tree.drained ? { drainedQueued: tree.drained.queued, interrupted: tree.drained.interrupted } : {}),
  };
}

function contributorsOf(
  { nodes }: TreeRecord,
  reservations: ReservationRecord[],
  queued: Set<string>,
): TreeSummary['contributors'] {
  const held = new Map(reservations.map((record) => [record._id, record]));
  return Object.entries(nodes)
    .sort(([, a], [, b]) => (a.at < b.at ? -1 : 1))
    .map(([nodeId, { parent, edge, depth, source }]) => {
      const record = held.get(nodeId);
      return {
        nodeId,
        parentNodeId: parent,
        edge,
        depth,
        source,
        state: queued.has(nodeId) ? ('queued' as const) : (record?.state ?? ('registered' as const)),
        committed: record?.committed ?? nothing,
        reserved: record?.state === 'active' ? record.requested : nothing,
      };
    });
}
