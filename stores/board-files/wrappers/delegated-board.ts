import type { Delegation } from '../../../contracts/governance/delegation';
import { movesScopeReason } from '../../../domain/delegation/scope';
import { AppError } from '../../../platform/errors/app-error';
import type { DelegationStore } from '../../governance/delegation-store';
import type { Board, TaskChange } from '../types';
import { wrappedBoard } from './wrapped-board';

/**
 * The same board, on which a delegate moves no task into or out of the scope of its delegation: what it may decide is not its own
 * to change.
 *
 * Refusals are `AppError` 403 with the delegation.
 */
export function delegatedBoard(board: Board, delegations: Pick<DelegationStore, 'active'>): Board {
  async function guarded(change: TaskChange, actor: string): Promise<TaskChange> {
    const delegation = actor.startsWith('agent:') ? await delegations.active() : null;
    return delegation === null || actor !== `agent:${delegation.delegateAgent}`
      ? change
      : withinScope(change, delegation);
  }
  return wrappedBoard(board, {
    update: async (id, change, writer) => board.update(id, await guarded(change, writer.actor), writer),
    move: async (id, change, mover) => board.move(id, await guarded(change, mover.actor), mover),
  });
}

const withinScope =
  (change: TaskChange, delegation: Delegation): TaskChange =>
  (current, location) => {
    const fields = change(current, location);
    const message = movesScopeReason(delegation, { before: current, after: { ...current, ...fields } });
    if (message !== undefined) {
      const details = { taskId: current.id, delegationId: delegation.id };
      throw new AppError('FORBIDDEN', { status: 403, message, details });
    }
    return fields;
  };
