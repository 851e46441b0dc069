import { randomUUID } from 'node:crypto';

/** What an operation on a worktree is known by. */
export const newOperationId = (): string => `op_${randomUUID().replaceAll('-', '').slice(0, 16)}`;
