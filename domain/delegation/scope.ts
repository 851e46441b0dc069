import type { PermissionApproval } from '../../contracts/governance/agent-permission';
import type { Delegation } from '../../contracts/governance/delegation';
import type { Task } from '../../contracts/tasks/task';
import { compact } from '../../platform/json/compact';
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

/** What of a task decides whether a delegation is about it. */
export interface ScopeFacts extends Pick<Task, 'project' | 'priority'> {
  /** In lower case. */
  tags: string[];
}

export const scopeFactsOf = (task: Task): ScopeFacts => ({
  ...compact({ project: task.project }),
  priority: task.priority,
  tags: tagsOf(task),
});

/** Why a task with these facts is outside of a delegation; `undefined` when it is within. */
export function outsideReason(delegation: Delegation, task: ScopeFacts): string | undefined {
  const { scope, excludePriorities = [], excludeTags = [] } = delegation;
  const excluded = task.tags.find((tag) => excludeTags.some((one) => one.toLowerCase() === tag));
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

/** Why a delegate may not make a change: its task would be within the delegation and was not, or the reverse. */
export function movesScopeReason(
  delegation: Delegation,
  { before, after }: { before: Task; after: Task },
): string | undefined {
  const [was, would] = [before, after].map((task) => outsideReason(delegation, scopeFactsOf(task)));
  if ((was === undefined) === (would === undefined)) {
    return undefined;
  }
  return was === undefined
    ? `The delegate may not move a task out of the scope of its delegation. ${would}`
    : `The delegate may not move a task into the scope of its delegation. ${was}`;
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
