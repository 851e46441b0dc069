import type { BoardNotice } from '../../contracts/watch';
import type { Permission } from '../../contracts/permissions';
import type { Channel } from './watcher';

/** What a watcher needs to hear a channel. */
export const permissionOf: Record<Channel, Permission> = {
  tasks: 'task:read',
  'run-approvals': 'task:read',
  'agent:status': 'agent:read',
  squad: 'agent:read',
  broadcasts: 'agent:read',
};

/** Where something that was said is told. */
export const channelOf = (notice: Exclude<BoardNotice, { type: 'chat:message' }>): Channel =>
  notice.type === 'broadcast:new' ? 'broadcasts' : 'squad';
