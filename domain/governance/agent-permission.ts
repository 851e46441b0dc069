import type { AgentPermission, PermissionApproval } from '../../contracts/governance/agent-permission';
import { matchesName } from './matches-name';

export interface PermissionDecision {
  allowed: boolean;
  requiresApproval: boolean;
  /** Which rule decided. */
  rule: 'restriction' | 'capability' | 'review' | 'approval' | 'configuration' | 'level';
  reason: string;
}

/** Actions that a capability is needed for; `create_task` is another way to write `create-task`. */
const capabilityFor = new Map<string, 'canCreateTasks' | 'canDelegate' | 'canApprove'>([
  ['create-task', 'canCreateTasks'],
  ['delegate', 'canDelegate'],
  ['approve', 'canApprove'],
]);

/** What an intern has done goes to review. */
const reviewed = 'complete-task';

const normalized = (action: string): string => action.replaceAll('_', '-').toLowerCase();

/**
 * Whether an agent may do something, the first that applies:
 *
 * 1. What it is restricted from is refused, and no approval changes that.
 * 2. An approval of exactly this action of this agent allows it.
 * 3. Creating tasks, delegating and approving need the capability; an intern completes no task. An intern may request an
 * approval of what it lacks, others have their permissions changed.
 * An agent without permissions of its own may delegate when its configuration lets it launch children.
 * 4. Everything else is allowed.
 */
export function decidePermission(
  { agentId, level, restrictions, revision, ...permission }: AgentPermission,
  action: string,
  { approval, launchesChildren = false }: { approval?: PermissionApproval; launchesChildren?: boolean } = {},
): PermissionDecision {
  // However it is written: a restriction is not evaded by an underscore.
  const restriction = restrictions.find((pattern) => matchesName(normalized(pattern), normalized(action)));
  if (restriction !== undefined) {
    const reason = `${agentId} is restricted from ${restriction}.`;
    return { allowed: false, requiresApproval: false, rule: 'restriction', reason };
  }
  if (approval?.status === 'approved' && approval.agentId === agentId && approval.action === action) {
    return { allowed: true, requiresApproval: false, rule: 'approval', reason: `${approval.id} allows ${action}.` };
  }
  if (launchesChildren && revision === 0 && normalized(action) === 'delegate') {
    const reason = `${agentId} has no permissions of its own, and its configuration lets it launch children.`;
    return { allowed: true, requiresApproval: false, rule: 'configuration', reason };
  }
  const requiresApproval = level === 'intern';
  const capability = capabilityFor.get(normalized(action));
  if (capability !== undefined && !permission[capability]) {
    const reason = `${agentId} has the level ${level}, which lacks ${capability}.`;
    return { allowed: false, requiresApproval, rule: 'capability', reason };
  }
  if (requiresApproval && normalized(action) === reviewed) {
    const reason = `${agentId} is an intern: its results go to review.`;
    return { allowed: false, requiresApproval, rule: 'review', reason };
  }
  return { allowed: true, requiresApproval: false, rule: 'level', reason: `${agentId} is ${level}.` };
}
