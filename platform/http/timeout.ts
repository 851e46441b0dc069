import { AppError } from '../errors/app-error';
import type { Log } from '../log/log';
import type { HttpMiddleware } from './context';

/**
 * Answers for a request that takes longer than `timeoutMs`: 408 while the caller has not sent all of it, 503 once it is
 * ours to blame. What the route does later changes nothing in the answer; its failure is logged.
 */
export const requestTimeout =
  (timeoutMs: number, log: Log): HttpMiddleware =>
  async (ctx, next) => {
    let timer: NodeJS.Timeout | undefined;
    let late = false;
    const expired = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        late = true;
        const status = ctx.req.complete ? 503 : 408;
        reject(new AppError('REQUEST_TIMEOUT', status, `The request took longer than ${timeoutMs} ms.`, { timeoutMs }));
      }, timeoutMs);
    });
    const handled = next().catch((error: unknown) => {
      if (!late) throw error;
      log.warn({ requestId: ctx.state.requestId, err: error }, 'a request failed after its time was up');
    });
    try {
      await Promise.race([handled, expired]);
    } finally {
      clearTimeout(timer);
    }
  };
