/** All workflows, and the activities that need the stores or the board files. */
export const boardQueue = 'board';

/** Work that needs a host's disk: agent processes and git worktrees of that host. */
export const hostQueue = (hostId: string): string => `host/${hostId}`;
