import { Session } from 'node:inspector';
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/** The sizes are in bytes, and `busy` is what part of the time the event loop may have run. */
export interface IdleRules {
  lookEveryMs: number;
  busy: number;
  worthwhile: number;
}

/** Collecting takes up to a third of a second of CPU, so it has to be worth that. */
const usual: IdleRules = { lookEveryMs: 10_000, busy: 0.05, worthwhile: 16 * 1024 * 1024 };

/**
 * Returns what a start, or a burst of work, has left in the heap of this thread to the system, once the thread is idle. V8 alone
 * keeps a third of a part's memory for minutes, and some of it for good.
 *
 * @returns what ends it
 */
export function releaseWhenIdle(
  { lookEveryMs, busy, worthwhile }: IdleRules = usual,
  release: (released: () => void) => void = collectGarbage,
): () => void {
  let last = performance.eventLoopUtilization();
  let kept = 0;
  const look = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    if (utilization < busy && heapSize() >= kept + worthwhile) {
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
