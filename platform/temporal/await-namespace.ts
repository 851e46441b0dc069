import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import type { TemporalSecurity } from './security';

/** Reconnects fast: a local server responds some hundred milliseconds after its port opens. */
const impatientChannel = { 'grpc.initial_reconnect_backoff_ms': 50, 'grpc.max_reconnect_backoff_ms': 200 };

/**
 * Waits until the namespace responds. A server's port opens, and its health service reports SERVING, up to a second before its
 * namespaces can be used, so that neither is worth waiting for.
 *
 * @param options.withinMs bound in milliseconds; 0 tries once
 * @param options.security where the server authenticates clients
 * @param options.signal ends the wait early, with its reason
 * @throws Error with the last failure as its cause when time is up
 */
export async function awaitNamespace(
  address: string,
  namespace: string,
  { withinMs, signal, security }: { withinMs: number; signal?: AbortSignal; security?: TemporalSecurity },
): Promise<void> {
  // Without the interceptors that retry: this loop does, and a call must fail as soon as it can.
  const connection = Connection.lazy({ address, ...security, channelArgs: impatientChannel, interceptors: [] });
  const deadline = performance.now() + withinMs;
  try {
    for (;;) {
      signal?.throwIfAborted();
      try {
        await connection.withDeadline(Date.now() + 2_000, () =>
          connection.workflowService.describeNamespace({ namespace }),
        );
        return;
      } catch (cause) {
        if (performance.now() >= deadline) {
          throw new Error(`The namespace ${namespace} at ${address} did not answer within ${withinMs} ms.`, { cause });
        }
      }
      await delay(50, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    await connection.close();
  }
}
