import { Context } from '@temporalio/activity';

/** Without a heartbeat timeout there is nobody to tell; this often, in milliseconds, is harmless. */
const usualTimeoutMs = 30_000;

/** Tells Temporal, while `work` runs, that this worker is alive: a dead one is noticed within the heartbeat timeout. */
export async function withHeartbeat<T>(work: (cancelled: AbortSignal) => Promise<T>): Promise<T> {
  const { info, cancellationSignal, heartbeat } = Context.current();
  const heart = setInterval(heartbeat, (info.heartbeatTimeoutMs ?? usualTimeoutMs) / 4);
  try {
    return await work(cancellationSignal);
  } finally {
    clearInterval(heart);
  }
}
