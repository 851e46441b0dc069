import type { GovernedAction } from '../../domain/governance/action';
import { compact } from '../../platform/json/compact';
import { operationBytes } from '../../platform/operations/operation';
import { agentOfActor } from '../../stores/board-files/wrappers/ruled-board';
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
  const once = operationBytes(`rules/${action}`, 12).toString('hex');
  const asked = { action, actor, taskId, subject: { ...subject }, ...compact({ agent: agentOfActor(actor), project }) };
  await requireAllowed(rules, asked, { counting: { once }, use: once, once });
}
