import type { GovernedAction } from '../../domain/governance/action';
import { requireAllowed } from '../../stores/governance/require-allowed';
import type { ApiContext } from '../context';

/**
 * Asks the rules about an action on a task that the caller is about to do.
 *
 * @throws AppError 403 `POLICY_BLOCKED`, 409 `APPROVAL_REQUIRED`
 */
export async function assertAllowed(
  { rules, board }: Pick<ApiContext, 'rules' | 'board'>,
  action: GovernedAction,
  { taskId, actor, subject }: { taskId: string; actor: string; subject: object },
): Promise<void> {
  const project = (await rules.hasPolicies()) ? (await board.get(taskId))?.task.project : undefined;
  await requireAllowed(rules, {
    action,
    actor,
    taskId,
    project,
    subject: { ...subject },
    change: `${taskId}/${action}`,
  });
}
