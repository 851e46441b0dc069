import { z } from 'zod';
import { attemptId, taskId } from '../../contracts/common';

/** Path parameters of what concerns a task, and of what concerns one of its attempts. */
export const ofTask = z.strictObject({ taskId });
export const ofAttempt = z.strictObject({ taskId, attemptId });
