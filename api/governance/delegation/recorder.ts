import { createHash } from 'node:crypto';
import { outsideReason, scopeFactsOf } from '../../../domain/delegation/scope';
import type { OwedWrites } from '../../../platform/operations/owed-writes';
import type { RecordedChange } from '../../../stores/board-files/wrappers/recorded-board';
import type { Stores } from '../../../stores/open-stores';

/** Writes into the log what the delegate completes within its scope; nothing is refused for it. */
export function createDelegationRecorder({
  delegations,
  owed,
}: Pick<Stores, 'delegations'> & { owed: Pick<OwedWrites, 'write'> }): (change: RecordedChange) => Promise<void> {
  return async ({ actor, before, after }) => {
    if (!actor.startsWith('agent:') || after.status !== 'done' || before?.status === 'done') {
      return;
    }
    const timestamp = new Date().toISOString();
    await owed.write(`delegation log of ${after.id}`, async () => {
      const delegation = await delegations.active();
      const isDelegate = delegation !== null && actor === `agent:${delegation.delegateAgent}`;
      const facts = [before ?? after, after].map(scopeFactsOf);
      if (!isDelegate || facts.some((each) => outsideReason(delegation, each) !== undefined)) {
        return;
      }
      const digits = createHash('sha256').update(`${after.id}@${after.revision}`).digest('hex');
      const about = { taskId: after.id, taskTitle: after.title, agent: delegation.delegateAgent };
      const entry = {
        kind: 'completion',
        delegated: true,
        timestamp,
        originalDelegation: delegation,
        ...about,
      } as const;
      await delegations.note({ id: `delegated_${digits.slice(0, 12)}`, ...entry }, { confirmed: true });
    });
  };
}
