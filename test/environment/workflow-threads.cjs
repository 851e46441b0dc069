/**
 * Lets the workers of Temporal that tests create one after the other run their workflows in the same thread: a new thread
 * loads Node's and Temporal's modules again, which takes half a second of CPU. Each worker still has a sandbox of its own in it,
 * evaluated from its own bundle.
 */
const { Worker } = require('node:worker_threads');

/** A thread collects what the sandboxes of ended workers leave only when it must. */
const mostUses = 20;
const mostIdle = 4;

const uses = new WeakMap();
const idle = [];
let patched = false;

function takeThread(script) {
  const thread = idle.pop() ?? new Worker(script);
  uses.set(thread, (uses.get(thread) ?? 0) + 1);
  thread.ref();
  return thread;
}

/** Whether a client that ends leaves a thread in which nothing of it continues. */
const isReusable = ({ workerThread, workerExited, exitError, activeWorkflowCount, requestIdToCompletion }) =>
  !workerExited &&
  !exitError &&
  activeWorkflowCount === 0 &&
  requestIdToCompletion.size === 0 &&
  uses.get(workerThread) < mostUses &&
  idle.length < mostIdle;

/** Makes the threads of `@temporalio/worker`, which is loaded, reusable; does nothing the second time. */
exports.reuseWorkflowThreads = () => {
  if (patched) {
    return;
  }
  patched = true;
  const { ThreadedVMWorkflowCreator, WorkerThreadClient } = require('@temporalio/worker/lib/workflow/threaded-vm');
  const script = require.resolve('@temporalio/worker/lib/workflow/workflow-worker-thread');
  const { destroy } = WorkerThreadClient.prototype;

  ThreadedVMWorkflowCreator.create = async function create({
    threadPoolSize,
    logger,
    patchActivationCallback,
    ...init
  }) {
    const clients = Array.from(
      { length: threadPoolSize },
      () => new WorkerThreadClient(takeThread(script), logger, patchActivationCallback),
    );
    const hasPatchActivationCallback = patchActivationCallback !== undefined;
    try {
      await Promise.all(clients.map((client) => client.send({ type: 'init', ...init, hasPatchActivationCallback })));
    } catch (error) {
      await Promise.all(clients.map(({ workerThread }) => workerThread.terminate()));
      throw error;
    }
    return new this(clients);
  };

  WorkerThreadClient.prototype.destroy = async function destroyOrReuse() {
    if (!isReusable(this)) {
      return destroy.call(this);
    }
    this.shutDownRequested = true;
    await this.send({ type: 'destroy' });
    for (const event of ['message', 'error', 'exit']) {
      this.workerThread.removeAllListeners(event);
    }
    // Nothing this client still sends may come to the next one's workflows.
    this.workerExited = true;
    this.workerThread.unref();
    idle.push(this.workerThread);
  };
};
