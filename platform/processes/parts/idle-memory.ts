import { Session } from 'node:inspector';
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

export interface IdleRules {
  lookEveryMs: number;
  /** How many looks in a row have to find the thread idle. */
  looks: number;
  /** The least time from one collection to the next, in milliseconds. */
  restMs: number;
  /** What part of the time the event loop may have run. */
  busy: number;
  /** How much larger the heap has to be than after the last collection, in bytes. */
  worthwhile: number;
}

/** Collecting holds the event loop for a third of a second: it has to be worth that, and rare where there is a little to do. */
const usual: IdleRules = { lookEveryMs: 10_000, looks: 3, restMs: 600_000, busy: 0.05, worthwhile: 8 * 1024 * 1024 };

/**
 * Returns what a start, or a burst of work, has left in the heap of this thread to the system, once the thread is idle. V8 alone
 * keeps a third of a part's memory for minutes, and some of it for good.
 *
 * @returns what ends it
 */
export function releaseWhenIdle(
  { lookEveryMs, looks, restMs, busy, worthwhile }: IdleRules = usual,
  release: (released: () => void) => void = collectGarbage,
): () => void {
  let last = performance.eventLoopUtilization();
  let kept = 0;
  let nextAt = 0;
  let idle = 0;
  const look = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    idle = utilization < busy ? idle + 1 : 0;
    if (idle >= looks && performance.now() >= nextAt && heapSize() >= kept + worthwhile) {
      nextAt = performance.now() + restMs;
      release(() => (kept = heapSize()));
    }
  };
  const timer = setInterval(look, lookEveryMs).unref();
  return () => clearInterval(timer);
}

const heapSize = (): number => getHeapStatistics().total_heap_size;

/** As when memory is short: with room for young objects, and compiled functions that have not run since, released as well. */
function collectGarbage(done: () => void): void {
  const session = new Session();
  session.connect();
  session.post('HeapProfiler.collectGarbage', () => {
    done();
    // Inside of the response it would wait for itself.
    setImmediate(() => session.disconnect());
  });
}
