import type { GlobalHandlers } from '@temporalio/worker/lib/workflow/vm-shared';

/**
 * Records no stack for each promise of a workflow, unless `TEMPORAL_CALL_STACKS` is set: that takes two fifths of the thread's CPU, and
 * serves nothing but the query `__stack_trace`, which is refused then.
 */
export function recordNoPromiseStacks(): void {
  if (['true', '1'].includes(process.env.TEMPORAL_CALL_STACKS ?? '')) {
    return;
  }
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- threads of workflows alone load it
  const { globalHandlers } = require('@temporalio/worker/lib/workflow/vm-shared') as {
    globalHandlers: GlobalHandlers;
  };
  // The SDK has no option for it. It leaves out the same where V8 has no hooks of promises.
  Object.assign(globalHandlers, { setPromiseHook: () => undefined });
}
