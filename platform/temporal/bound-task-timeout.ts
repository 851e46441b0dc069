import type { WorkflowClientInterceptor } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { workflowTaskTimeout } from './task-timeout';

type Compiled = Parameters<NonNullable<WorkflowClientInterceptor['signalWithStart']>>[0]['options'];

const bounded = (options: Compiled): Compiled => ({
  ...options,
  workflowTaskTimeout: options.workflowTaskTimeout ?? msToTs(workflowTaskTimeout),
});

/** Sets Runboard's task timeout for every workflow that a client starts, unless its start names one. */
export const boundTaskTimeout: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next({ ...input, options: bounded(input.options) }),
  signalWithStart: (input, next) => next({ ...input, options: bounded(input.options) }),
  startUpdateWithStart: (input, next) => next({ ...input, workflowStartOptions: bounded(input.workflowStartOptions) }),
};
