import { awaitNamespace } from './await-namespace';
import type { TemporalSecurity } from './security';
import { hasStatus } from './until-ready';

export interface ReachedServer {
  /** `host:port` of a server that was started by others. */
  address: string;
  namespace: string;
  security?: TemporalSecurity;
  /** How long it may take to respond before that is reported, in milliseconds. */
  withinMs?: number;
  /** Ends the wait; nothing is reported then. */
  signal?: AbortSignal;
}

const notFound = 5;
const permissionDenied = 7;
const unauthenticated = 16;

/** Why a server is of no use, and what to do, in a sentence for a person; `undefined` once it responds. */
export async function unreachableReason(server: ReachedServer): Promise<string | undefined> {
  const { address, namespace, withinMs = 3_000, signal, security } = server;
  try {
    await awaitNamespace(address, namespace, { withinMs, signal, security });
    return undefined;
  } catch (error) {
    signal?.throwIfAborted();
    if (hasStatus(error, notFound)) {
      return (
        `Temporal at ${address} (TEMPORAL_ADDRESS) has no namespace ${namespace} (TEMPORAL_NAMESPACE). Make it: ` +
        `temporal operator namespace create --address ${address} --namespace ${namespace}`
      );
    }
    if (hasStatus(error, unauthenticated) || hasStatus(error, permissionDenied)) {
      return `Temporal at ${address} (TEMPORAL_ADDRESS) refuses us: ${rootMessage(error)}. Check TEMPORAL_API_KEY and TEMPORAL_TLS_*.`;
    }
    return (
      `Temporal at ${address} (TEMPORAL_ADDRESS) does not respond: ${rootMessage(error)}. ` +
      'Start it, correct the address, or unset TEMPORAL_ADDRESS to use the embedded server.'
    );
  }
}

/** What happened in the end, without what gRPC wraps it in. */
export function rootMessage(error: unknown): string {
  let current = error;
  while (current instanceof Error && current.cause instanceof Error) {
    current = current.cause;
  }
  const message = current instanceof Error ? current.message : String(current);
  return /Last error: (?:Error: )?(.+?)\. Resolution note:/.exec(message)?.[1] ?? message;
}
