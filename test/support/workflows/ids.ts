import { randomUUID } from 'node:crypto';

/** A part of an id; while mutants are measured, it states which one the workflows of this id run with. */
const unique = (length: number): string =>
  `${process.env.TEST_MUTANT ?? ''}${randomUUID().replaceAll('-', '')}`.slice(0, length);

export const newAttemptId = (): string => `attempt_${unique(12)}`;

export const newTaskId = (): string => `task_20260101_${unique(8)}`;
