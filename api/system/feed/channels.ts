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
};

/** The channel of a notice. */
export const channelOf = (notice: Exclude<BoardNotice, { type: 'chat:message' }>): Channel =>
  notice.type === 'broadcast:new' ? 'broadcasts' : 'squad';
