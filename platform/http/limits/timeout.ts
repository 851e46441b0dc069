import { AppError } from '../../errors/app-error';
import type { Log } from '../../log/log';
import { type HttpMiddleware, isUpload } from '../context';

/** How long requests may take, in milliseconds. */
export interface RequestTimes {
  usual: number;
  /** Those that send files. */
  upload: number;
}

/**
 * Responds to a request that takes too long: 408 while the caller has not sent all of it, 503 once the service is the cause.
 * What the route does later does not change the response; its failure is logged.
 */
export const requestTimeout =
  (times: RequestTimes, log: Log): HttpMiddleware =>
  (ctx, next) => {
    const timeoutMs = isUpload(ctx) ? times.upload : times.usual;
    return new Promise<void>((resolve, reject) => {
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        const status = ctx.req.complete ? 503 : 408;
        // No handler waits for the rest of it.
        if (status === 408) {
          ctx.set('Connection', 'close');
        }
        reject(
          new AppError('REQUEST_TIMEOUT', {
            status,
            message: `The request took longer than ${timeoutMs} ms.`,
            details: { timeoutMs },
          }),
        );
      }, timeoutMs);
      const failed = (error: Error): void => {
        clearTimeout(timer);
        if (late) {
          log.warn({ requestId: ctx.state.requestId, err: error }, 'request failed after its timeout');
        } else {
          reject(error);
        }
      };
      next().then(() => {
        clearTimeout(timer);
        resolve();
      }, failed);
    });
  };
