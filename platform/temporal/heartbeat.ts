import { Context } from '@temporalio/activity';

/** Without a heartbeat timeout no heartbeat is needed; this often, in milliseconds, is harmless. */
const defaultTimeoutMs = 30_000;

/** Sends heartbeats to the server while `work` runs: a dead worker is noticed within the heartbeat timeout. */
export async function withHeartbeat<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  const everyMs = Math.max(100, Math.floor((context.info.heartbeatTimeoutMs ?? defaultTimeoutMs) / 4));
  const heart = setInterval(() => context.heartbeat(), everyMs);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(heart);
  }
}
