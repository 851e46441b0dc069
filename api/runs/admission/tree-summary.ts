import type { TreeSummary } from '../../../contracts/runs/admission';
import type { AdmissionSettings } from '../../../contracts/settings/settings';
import { isExhausted } from '../../../domain/admission/budget';
import { type CapacityPolicy, nothing, policiesOf } from '../../../domain/admission/capacity';
import { assertFound } from '../../../platform/errors/app-error';
import type { Page, PageRequest } from '../../../platform/lists/page';
import { slicePage } from '../../../platform/lists/slice';
import type { TreeRecord } from '../../../stores/runs/admission/tree-store';
import { budgetsOfTree } from '../../../stores/runs/admission/tree-telemetry';
import type { AdmissionContext } from './context';

type Contributor = TreeSummary['contributors'][number];

/** The usage of a tree, its reservations, and what prevents it from growing. @throws AppError 404 */
export async function summarise(
  context: AdmissionContext,
  id: string,
  part: PageRequest,
): Promise<{ summary: TreeSummary; page: Page<Contributor> }> {
  const tree = await context.trees.get(id);
  assertFound(tree, 'execution tree', id);
  const { admission } = (await context.settings.read()).features;
  const page = await contributorsOf(context, tree, part);
  const [{ committed, reserved }, queued, usage, policies, budgets] = await Promise.all([
    context.reservations.sumsOfTree(id),
    context.queue.depthOfTree(id),
    context.reservations.usage(),
    policiesOfTree(context, admission, tree),
    budgetsOfTree(context.telemetry, admission.treeBudget, tree),
  ]);
  const summary: TreeSummary = {
    schemaVersion: 'execution-tree-summary/v1',
    rootObjectiveId: id,
    workspaceId: tree.workspaceId,
    state: tree.state,
    ...(tree.control ? { control: controlOf(tree, tree.control) } : {}),
    descendants: tree.descendants,
    queued,
    committed,
    reserved,
    policies: [
      ...policies.map(({ policy, key, resource, limit: ceiling }) => {
        const used = usage[key]?.[resource] ?? 0;
        return {
          policy,
          used,
          reserved: reserved[resource],
          remaining: Math.max(0, ceiling - used),
          blocksNextLaunch: used + admission.request[resource] > ceiling,
        };
      }),
      ...budgets.map((use) => ({
        policy: `tree.${use.budget}`,
        used: use.used,
        reserved: 0,
        remaining: Math.max(0, use.limit - use.used),
        blocksNextLaunch: isExhausted(use),
      })),
    ],
    contributors: page.items,
    contributorCount: Object.keys(tree.nodes).length,
    truncated: page.next !== undefined,
    generatedAt: context.now().toISOString(),
  };
  return { summary, page };
}

/** The ceilings of the tree's root. */
export async function policiesOfTree(
  { admissionRequests, hosts }: AdmissionContext,
  settings: AdmissionSettings,
  tree: TreeRecord,
): Promise<CapacityPolicy[]> {
  const root = await admissionRequests.get(tree._id);
  if (!root) {
    return [];
  }
  const runs = root.hostId === null ? undefined : (await hosts.capacityOf(root.hostId)).runs;
  return policiesOf(settings, root, runs);
}

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

/** One page of a tree's nodes in the order in which they were registered, each with its usage and reservations. */
async function contributorsOf(
  { reservations, queue }: AdmissionContext,
  { nodes }: TreeRecord,
  part: PageRequest,
): Promise<Page<Contributor>> {
  const page = slicePage(Object.entries(nodes), part, { positionOf: ([nodeId, { at }]) => ({ key: at, id: nodeId }) });
  const ids = page.items.map(([nodeId]) => nodeId);
  const [records, queued] = await Promise.all([reservations.among(ids), queue.openAmong(ids)]);
  const held = new Map(records.map((record) => [record._id, record]));
  return page.map(([nodeId, { parent, edge, depth, source }]) => {
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
