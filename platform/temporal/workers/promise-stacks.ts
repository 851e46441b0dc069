import { sep } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import type { GlobalHandlers } from '@temporalio/worker/lib/workflow/vm-shared';

/** The entry of the threads in which the SDK runs workflows. */
const workflowThread = ['', '@temporalio', 'worker', 'lib', 'workflow', 'workflow-worker-thread.js'].join(sep);

/**
 * In a thread that runs workflows, records no stack for each of their promises, unless `TEMPORAL_CALL_STACKS` is set: that takes two fifths
 * of the thread's CPU, and serves nothing but the query `__stack_trace`, which is refused then.
 */
export function recordNoPromiseStacks(): void {
  if (isMainThread || ['true', '1'].includes(process.env.TEMPORAL_CALL_STACKS ?? '')) {
    return;
  }
  // What is preloaded is run before the thread has its script, and this after that, before the script is sent anything.
  queueMicrotask(() => {
    if (process.argv[1]?.endsWith(workflowThread) !== true) {
      return;
    }
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- no other thread loads it
    const { globalHandlers } = require('@temporalio/worker/lib/workflow/vm-shared') as {
      globalHandlers: GlobalHandlers;
    };
    // The SDK has no option for it. It leaves out the same where V8 has no hooks of promises.
    Object.assign(globalHandlers, { setPromiseHook: () => undefined });
  });
}
