import { sep } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { watchActivationsOnce } from './activation-watchdog';
import { recordNoPromiseStacks } from './promise-stacks';

/** The entry of the threads in which the SDK runs workflows. */
const workflowThread = ['', '@temporalio', 'worker', 'lib', 'workflow', 'workflow-worker-thread.js'].join(sep);

/** In a thread that runs workflows, has the SDK do without what costs it most of the thread's CPU. */
export function tuneWorkflowThread(): void {
  if (isMainThread) {
    return;
  }
  // What is preloaded is run before the thread has its script, and this after that, before the script is sent anything.
  queueMicrotask(() => {
    if (process.argv[1]?.endsWith(workflowThread) === true) {
      recordNoPromiseStacks();
      watchActivationsOnce();
    }
  });
}
