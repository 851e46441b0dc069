import type { TrustDecision, TrustDecisionRequest } from '../../contracts/workspace-trust';
import { conflict } from '../../platform/errors/app-error';
import { pathsOf } from '../../runs/workspace/trust';
import type { TrustContext } from './context';
import { repositoryOf, workspaceOf } from './read';

/** Who decides, and through which task. */
export interface Decider {
  taskId: string;
  actor: string;
}

/**
 * Decides about exactly the inventory that the caller has looked at. The same decision again is the one that stands.
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
    throw conflict('The workspace brings nothing that needs trust.', { taskId, inventory }, 'TRUST_NOT_REQUIRED');
  }
  if (inventory.digest !== inventoryDigest) {
    throw conflict(
      'The workspace brings something else than what was looked at.',
      { inventoryDigest, current: inventory },
      'INVENTORY_CHANGED',
    );
  }
  if (decision === 'trusted' && inventory.unpinned.length > 0) {
    throw conflict(
      'Some of what the workspace brings cannot be pinned down, so that nobody could say what is trusted.',
      { unpinned: inventory.unpinned },
      'INVENTORY_UNPINNED',
    );
  }
  const previous = await context.trust.latest(repository.name, inventoryDigest);
  if (previous?.decision === decision) return previous;
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
  return traced(context, added ?? (await meanwhile(context, repository.name, inventoryDigest, decision)));
}

/**
 * Takes trust back. The decision it supersedes is named and kept; launches that depend on it are refused from now on, also
 * those that are queued or follow a failure.
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
      'There is no trust in this inventory that could be revoked.',
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
  return traced(context, added ?? (await meanwhile(context, repository.name, inventoryDigest, undefined)));
}

/** Of two at the same time one was first: the same decision stands for both, another one is a conflict. */
async function meanwhile(
  { trust }: TrustContext,
  repository: string,
  inventoryDigest: string,
  decision: TrustDecision['decision'] | undefined,
): Promise<TrustDecision> {
  const current = await trust.latest(repository, inventoryDigest);
  if (current && current.decision === decision) return current;
  throw conflict(
    'Somebody else has decided meanwhile.',
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
