import { setTimeout as delay } from 'node:timers/promises';
import type { Serving } from './serve';

/** How a worker ends: each is aborted when its moment has come. */
export interface Endings {
  /** The worker is to end. */
  leaving: AbortController;
  /** Running agents are waited for no longer. */
  drainSkipped: AbortController;
  /** The worker shuts down. */
  stopping: AbortController;
}

/**
 * Takes no new work, waits for running agents for as long as `drainMs` or until that is skipped, and begins the shutdown. The
 * other queues are served meanwhile: runs that end are recorded, and commands are delivered.
 */
export async function drain(
  { heartbeat, onHost, agentsEnded, rounds, shutDown }: Serving,
  { leaving, drainSkipped, stopping }: Endings,
  drainMs: number,
): Promise<void> {
  // Agents that outlive their worker are not waited for: the next one reattaches to them.
  leaving.abort();
  await heartbeat.drain();
  for (const round of rounds) {
    void round.close();
  }
  if (onHost.getState() === 'RUNNING') {
    onHost.shutdown();
  }
  const timeIsUp = delay(drainMs, undefined, { signal: drainSkipped.signal }).catch(() => undefined);
  await Promise.race([agentsEnded.catch(() => undefined), timeIsUp]);
  drainSkipped.abort();
  stopping.abort();
  shutDown();
}
