import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

const script = join(__dirname, '..', '..', '..', 'dist', 'services', 'bitmap', 'threads', 'worker.js');

/** A thread as the server starts it, from what was built. */
export const startThread = (): Worker => new Worker(script);

export interface HeldThreads {
  startThread: () => Worker;
  /** All that were started, in order. */
  started: Worker[];
  /** Lets them begin, and all that are started later. */
  release(): void;
}

/** Threads that take nothing of what they are sent before they are released. */
export function heldThreads(): HeldThreads {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const started: Worker[] = [];
  const code = `
    const { workerData } = require('node:worker_threads');
    Atomics.wait(workerData.gate, 0, 0);
    require(workerData.script);`;
  return {
    startThread: () => {
      const thread = new Worker(code, { eval: true, workerData: { gate, script } });
      started.push(thread);
      return thread;
    },
    started,
    release: () => {
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
    },
  };
}
