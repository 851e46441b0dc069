import type { Permission } from '../../../contracts/permissions';
import type { BoardNotice } from '../../../contracts/system/watch';
import type { Channel } from './watcher';

/** The permission that a watcher of a channel needs. */
export const permissionOf: Record<Channel, Permission> = {
  tasks: 'task:read',
  'run-approvals': 'task:read',
  'agent:status': 'agent:read',
  squad: 'agent:read',
  broadcasts: 'agent:read',
  goals: 'agent:read',
  'workflow-runs': 'workflow:read',
};

/** The channel of a notice. */
export function channelOf({ type }: Exclude<BoardNotice, { type: 'chat:message' }>): Channel {
  if (type === 'goal:changed') {
    return 'goals';
  }
  if (type === 'workflow-run:changed') {
    return 'workflow-runs';
  }
  if (type === 'recovery:changed') {
    return 'agent:status';
  }
  if (type === 'decision-review:changed') {
    return 'tasks';
  }
  return type === 'broadcast:new' ? 'broadcasts' : 'squad';
}
