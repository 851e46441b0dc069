import type { GovernedAction } from '../../domain/governance/action';
import { requireAllowed } from '../../stores/governance/require-allowed';
import type { ApiContext } from '../context';

/**
 * Asks the rules about an action, on a task where it has one, that the caller is about to do.
 *
 * @throws AppError 403 `POLICY_BLOCKED`, 409 `APPROVAL_REQUIRED`, `ADMISSION_BUDGET_EXHAUSTED`
 */
export async function assertAllowed(
  { rules, board }: Pick<ApiContext, 'rules' | 'board'>,
  action: GovernedAction,
  {
    taskId,
    actor,
    also = [],
    subject,
  }: { taskId?: string | undefined; actor: string; also?: string[]; subject: object },
): Promise<void> {
  // Budgets are of projects too, whether or not there are policies.
  const isScoped = taskId !== undefined && (action === 'spend' || (await rules.hasPolicies()));
  const task = isScoped ? (await board.get(taskId))?.task : undefined;
  await requireAllowed(rules, {
    action,
    actor,
    also,
    taskId,
    project: task?.project,
    subject: { ...subject },
    change: `${taskId ?? actor}/${action}`,
  });
}
