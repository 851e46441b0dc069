import type { ContinuationAttempt, Goal } from '../../contracts/governance/goals/goal';
import { goalSystem } from '../../domain/goals/system';
import type { AuditStore } from '../../stores/system/audit-store';

interface AuditDependencies {
  audit: Pick<AuditStore, 'record'>;
}

/** Records the state that the board has given a goal, once however often it is called. */
export async function auditTransitions({ audit }: AuditDependencies, { id, transitions }: Goal): Promise<void> {
  const last = transitions.at(-1);
  if (last?.actor !== goalSystem) {
    return;
  }
  const { from, to: state, reason } = last;
  await audit.record({
    action: 'goal.transition',
    actor: goalSystem,
    resource: id,
    details: { from, state, reason },
    once: `goal.transition/${id}/${transitions.length}`,
  });
}

/** Records what came of a continuation, once. */
export const auditContinuation = (
  { audit }: AuditDependencies,
  { id, createdBy }: Goal,
  { id: continuationId, kind, state, attemptId, sourceAttemptId, requestedBy, error }: ContinuationAttempt,
) =>
  audit.record({
    action: 'goal.continue',
    actor: requestedBy ?? createdBy,
    resource: id,
    details: { continuationId, kind, state, attemptId, sourceAttemptId, code: error?.code ?? null },
    once: `goal.continue/${id}/${continuationId}`,
  });
