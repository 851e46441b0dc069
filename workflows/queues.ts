/** All workflows, and the activities that need the stores or the board files. */
export const boardQueue = 'board';

/** Work that needs a host's disk: agent processes and git worktrees of that host. */
export const hostQueue = (hostId: string): string => `host/${hostId}`;

/** Work for one worker process and no other: commands to the agents that it supervises. */
export const workerQueue = (hostId: string, workerId: string): string => `worker/${hostId}/${workerId}`;
