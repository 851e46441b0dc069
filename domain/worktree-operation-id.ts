import { randomUUID } from 'node:crypto';

/** The id of an operation on a worktree. */
export const newOperationId = (): string => `op_${randomUUID().replaceAll('-', '').slice(0, 16)}`;
