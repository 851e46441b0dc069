import type { PermissionApproval } from '../../contracts/governance/agent-permission';
import type { Delegation } from '../../contracts/governance/delegation';
import type { Task } from '../../contracts/tasks/task';
import { type GovernedAction, riskScoreOf } from '../governance/action';

/** From this risk on an approval is critical, and no delegate decides it: `force`. */
export const criticalRisk = 80;

/** Whether a delegation counts at a moment: one that was not revoked, until it expires. */
export const isActive = (delegation: Delegation | null, at: Date): delegation is Delegation =>
  delegation !== null && Date.parse(delegation.expires) > at.getTime();

/** The tags of a task: those that a person wrote into its file, and those of its lessons. */
function tagsOf(task: Task): string[] {
  const { tags, lessonTags = [] } = task as Task & { tags?: unknown };
  const written = Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === 'string') : [];
  return [...written, ...lessonTags].map((tag) => tag.toLowerCase());
}

/** Why a task is outside of a delegation; `undefined` when it is within. */
export function outsideReason(delegation: Delegation, task: Task): string | undefined {
  const { scope, excludePriorities = [], excludeTags = [] } = delegation;
  const excluded = tagsOf(task).find((tag) => excludeTags.some((one) => one.toLowerCase() === tag));
  if (scope.type === 'project' && !scope.projectIds?.includes(task.project ?? '')) {
    return `Its project, ${task.project ?? 'none'}, is not in the scope of the delegation.`;
  }
  if (scope.type === 'priority' && !scope.priorities?.includes(task.priority)) {
    return `Its priority, ${task.priority}, is not in the scope of the delegation.`;
  }
  if (excludePriorities.includes(task.priority)) {
    return `Its priority, ${task.priority}, is excluded from the delegation.`;
  }
  return excluded === undefined ? undefined : `Its tag ${excluded} is excluded from the delegation.`;
}

/** Why a delegate may not decide an approval, whichever task it is of; `undefined` when it may. */
export function undelegatedReason(
  { delegateAgent }: Delegation,
  { agentId, requestedBy, action }: PermissionApproval,
): string | undefined {
  if (agentId === delegateAgent || requestedBy === `agent:${delegateAgent}`) {
    return 'It is a request of the delegate itself.';
  }
  const named = action.replaceAll('_', '-').toLowerCase() as GovernedAction;
  return riskScoreOf(named, {}) >= criticalRisk
    ? `The action ${action} is critical: an administrator decides it.`
    : undefined;
}
