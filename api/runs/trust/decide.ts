import type { TrustDecision, TrustDecisionRequest } from '../../../contracts/runs/trust';
import { pathsOf } from '../../../domain/workspaces/trust';
import { conflict } from '../../../platform/errors/app-error';
import type { TrustContext } from './context';
import { repositoryOf, workspaceOf } from './read';

/** Who decides, and through which task. */
export interface Decider {
  taskId: string;
  actor: string;
}

/**
 * Decides about exactly the inventory that the caller has inspected. The same decision again is the one that stands.
 *
 * @throws AppError 409 when the workspace brings something else by now, something that cannot be pinned down, or nothing
 */
export async function decideTrust(
  context: TrustContext,
  { taskId, actor }: Decider,
  { inventoryDigest, decision, reason }: TrustDecisionRequest,
): Promise<TrustDecision> {
  const { repository, inventory } = await workspaceOf(context, taskId);
  if (!repository || !inventory || pathsOf(inventory).length === 0) {
    throw conflict('The workspace has no files that require trust.', { taskId, inventory }, 'TRUST_NOT_REQUIRED');
  }
  if (inventory.digest !== inventoryDigest) {
    throw conflict(
      'The inventory of the workspace has changed since it was read. Read it again.',
      { inventoryDigest, current: inventory },
      'INVENTORY_CHANGED',
    );
  }
  if (decision === 'trusted' && inventory.unpinned.length > 0) {
    throw conflict(
      'Some files of the workspace cannot be pinned to a digest, so that the inventory cannot be trusted.',
      { unpinned: inventory.unpinned },
      'INVENTORY_UNPINNED',
    );
  }
  const previous = await context.trust.latest(repository.name, inventoryDigest);
  if (previous?.decision === decision) {
    return previous;
  }
  const added = await context.trust.add(previous, {
    repository: repository.name,
    inventoryDigest,
    decision,
    paths: pathsOf(inventory),
    reason,
    actor,
    taskId,
    decidedAt: context.now().toISOString(),
  });
  return traced(context, added ?? (await meanwhile(context, repository.name, { inventoryDigest, decision })));
}

/**
 * Revokes trust. The decision it supersedes is named and stored; launches that depend on it are refused from now on, also those
 * that are queued or follow a failure.
 *
 * @throws AppError 409 `TRUST_NOT_GRANTED` with the decision that stands
 */
export async function revokeTrust(
  context: TrustContext,
  { taskId, actor }: Decider,
  { inventoryDigest, reason }: { inventoryDigest: string; reason: string },
): Promise<TrustDecision> {
  const repository = await repositoryOf(context, taskId);
  const previous = repository && (await context.trust.latest(repository.name, inventoryDigest));
  if (!repository || previous?.decision !== 'trusted') {
    throw conflict(
      'This inventory is not trusted; there is nothing to revoke.',
      { inventoryDigest, current: previous ?? null },
      'TRUST_NOT_GRANTED',
    );
  }
  const added = await context.trust.add(previous, {
    repository: repository.name,
    inventoryDigest,
    decision: 'revoked',
    paths: previous.paths,
    reason,
    actor,
    taskId,
    decidedAt: context.now().toISOString(),
  });
  return traced(context, added ?? (await meanwhile(context, repository.name, { inventoryDigest })));
}

/** Of two at the same time one was first: the same decision stands for both, another one is a conflict. */
async function meanwhile(
  { trust }: TrustContext,
  repository: string,
  { inventoryDigest, decision }: { inventoryDigest: string; decision?: TrustDecision['decision'] | undefined },
): Promise<TrustDecision> {
  const current = await trust.latest(repository, inventoryDigest);
  if (current && current.decision === decision) {
    return current;
  }
  throw conflict(
    'Another decision was recorded in the meantime. Read it again.',
    { inventoryDigest, current: current ?? null },
    'TRUST_DECIDED',
  );
}

async function traced({ traces }: TrustContext, made: TrustDecision): Promise<TrustDecision> {
  const { id, repository, decision, actor, reason, taskId } = made;
  await traces.record({
    kind: 'policy',
    outcome: decision === 'trusted' ? 'allowed' : 'blocked',
    title: `Workspace of ${repository}: ${decision}`,
    summary: `${actor} decided: ${decision}. ${reason}`,
    subject: { taskId, actionType: 'workspace-trust' },
    evaluatedRules: [],
    raw: { ...made },
    dedupeKey: `workspace-trust/${id}`,
  });
  return made;
}
