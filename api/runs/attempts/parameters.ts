import { z } from 'zod';
import { attemptId, taskId, text } from '../../../contracts/common';

/** Path parameters of what concerns a task, and of what concerns one of its attempts. */
export const taskParams = z.strictObject({ taskId });
export const attemptParams = z.strictObject({ taskId, attemptId });

/** Of what concerns a run of a workflow, whose id is whatever was chosen for it. */
export const workflowRunParams = z.strictObject({ runId: text(200, 1) });

/** Of what concerns one of its steps. */
export const workflowStepParams = z.strictObject({ runId: text(200, 1), stepId: text(200, 1) });
