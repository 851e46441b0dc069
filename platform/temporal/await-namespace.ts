import { Connection } from '@temporalio/client';
import type { TemporalSecurity } from './security';
import { callMs, type ResponseWait, untilResponds } from './until-responds';

/** Reconnects fast: a local server responds some hundred milliseconds after its port opens. */
const impatientChannel = { 'grpc.initial_reconnect_backoff_ms': 50, 'grpc.max_reconnect_backoff_ms': 200 };

/**
 * Waits until the namespace responds. A server's port opens, and its health service reports SERVING, up to a second before its
 * namespaces can be used, so that neither is worth waiting for.
 *
 * @param options.security where the server authenticates clients
 * @throws Error with the last failure as its cause when time is up
 */
export async function awaitNamespace(
  address: string,
  namespace: string,
  { security, ...wait }: ResponseWait & { security?: TemporalSecurity },
): Promise<void> {
  // Without the interceptors that retry: the wait does, and a call must fail as soon as it can.
  const connection = Connection.lazy({ address, ...security, channelArgs: impatientChannel, interceptors: [] });
  try {
    await untilResponds({ address, namespace }, wait, () =>
      connection.withDeadline(Date.now() + callMs, () => connection.workflowService.describeNamespace({ namespace })),
    );
  } finally {
    await connection.close();
  }
}
