import type { HttpContext } from '../../../platform/http/context';

/** Aborts when the connection of a request closes, responded to or not: what is done for this caller alone can stop. */
export function callerLeft({ res }: HttpContext): AbortSignal {
  const left = new AbortController();
  const leave = (): void => left.abort(new Error('The caller has disconnected.'));
  if (res.closed) {
    leave();
  } else {
    res.once('close', leave);
  }
  return left.signal;
}
