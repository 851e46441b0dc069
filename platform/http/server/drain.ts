import type { HttpContext } from '../context';

/** How much of a refused body is still read, so that the caller gets to read the response instead of a reset. */
const drainLimitBytes = 33_554_432;
const drainLimitMs = 2_000;

/** Reads and forgets the rest of the request, within bounds. */
export function drain(ctx: HttpContext): Promise<void> {
  const { req } = ctx;
  if (req.complete || req.destroyed) {
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    let bytes = 0;
    const timer = setTimeout(done, drainLimitMs);
    function done(): void {
      clearTimeout(timer);
      req.off('data', count).off('end', done).off('close', done);
      resolve();
    }
    function count(chunk: Buffer): void {
      bytes += chunk.length;
      if (bytes > drainLimitBytes) {
        done();
      }
    }
    req.on('data', count).on('end', done).on('close', done).resume();
  });
}
