import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { Log } from '../log/log';
import { backoffMs } from '../processes/backoff';
import { traceCalls } from '../tracing/client-calls';
import { awaitNamespace } from './await-namespace';
import { boundTaskTimeout } from './bound-task-timeout';
import { retryUntilClosed } from './closed-connection';
import { awaitLocalNamespace, isLocal } from './embedded/await-local-namespace';
import type { TemporalSecurity } from './security';
import { TemporalUnavailableError } from './unavailable-error';
import { rootMessage } from './unreachable-reason';

export interface ConnectOptions {
  /** `host:port` of the frontend. */
  address: string;
  namespace: string;
  /** Where the server authenticates clients. */
  security?: TemporalSecurity;
  log: Log;
  /** Ends the attempts, with its reason. */
  signal?: AbortSignal;
  /** Bound for all attempts together, in milliseconds; without it there is none. */
  withinMs?: number;
}

/** Of every client that calls workflows. */
export const clientInterceptors = { workflow: [boundTaskTimeout, traceCalls] };

const backoff = { firstMs: 250, maxMs: 10_000 };

/**
 * Connects a client as soon as the server and the namespace respond. The caller closes `client.connection`.
 *
 * @throws TemporalUnavailableError after `withinMs`; the signal's reason when it is aborted
 */
export function connectClient(options: ConnectOptions): Promise<Client> {
  const { address, namespace, security } = options;
  return untilConnected(options, async () => {
    const connection = await Connection.connect({ address, interceptors: retryUntilClosed, ...security });
    return new Client({ connection, namespace, interceptors: clientInterceptors });
  });
}

/**
 * Connects for workers as soon as the server and the namespace respond. Once connected it reconnects by itself. The caller
 * closes it after its workers have ended.
 *
 * @throws TemporalUnavailableError after `withinMs`; the signal's reason when it is aborted
 */
export function connectWorker(options: ConnectOptions): Promise<NativeConnection> {
  return untilConnected(options, () => NativeConnection.connect({ address: options.address, ...options.security }));
}

/** Tries, logs what failed, and tries again with growing pauses: a server that starts after this process is the normal case. */
async function untilConnected<T>(options: ConnectOptions, connect: () => Promise<T>): Promise<T> {
  const { address, namespace, security, log, signal, withinMs = Infinity } = options;
  const deadline = performance.now() + withinMs;
  for (let failures = 1; ; failures += 1) {
    signal?.throwIfAborted();
    try {
      await respond({ address, namespace, security, signal });
      const connected = await connect();
      log.info({ address, namespace }, 'connected to temporal');
      return connected;
    } catch (cause) {
      signal?.throwIfAborted();
      if (performance.now() >= deadline) {
        throw new TemporalUnavailableError(`Temporal at ${address} did not answer within ${withinMs} ms.`, { cause });
      }
      const inMs = Math.min(backoffMs(failures, backoff), Math.max(0, deadline - performance.now()));
      log.warn({ address, namespace, failures, inMs, reason: rootMessage(cause) }, 'temporal unreachable, retrying');
      await delay(inMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Fails unless the namespace responds now. */
async function respond(target: Pick<ConnectOptions, 'address' | 'namespace' | 'security' | 'signal'>): Promise<void> {
  const { address, namespace, security = {}, signal } = target;
  const isOpen = Object.values(security).every((value) => value === undefined);
  if (isOpen && isLocal(address)) {
    // The client would compile hundreds of types to read a response of which only its arrival counts.
    await awaitLocalNamespace(address, namespace, { withinMs: 0, signal });
    return;
  }
  await awaitNamespace(address, namespace, { withinMs: 0, signal, security });
}
