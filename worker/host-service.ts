import { ApplicationFailure } from '@temporalio/common';
import { HandlerError, operation, service, serviceHandler } from 'nexus-rpc';
import { messageUnproven } from '../platform/crypto/message-proof-shape';
import type { ProofVerifier } from '../platform/temporal/proof-verifier';
import { type HostOperations, hostService } from '../workflows/host-service';
import { inspectMessage } from '../workflows/message-proofs';

/** The handler of each query. */
type Handlers = {
  [Q in keyof HostOperations]: (input: HostOperations[Q]['input']) => Promise<HostOperations[Q]['response']>;
};

const hostOperation = <Q extends keyof HostOperations>() =>
  operation<HostOperations[Q]['input'], HostOperations[Q]['response']>();

const definition = service(hostService, {
  preview: hostOperation<'preview'>(),
  inspect: hostOperation<'inspect'>(),
  readDiff: hostOperation<'readDiff'>(),
});

/**
 * Serves the queries to this host, with the functions that are its activities as well. Any client of Temporal's HTTP API can
 * send one, a page on the web too: only signed queries are served; a preview and a diff by their activity's own check.
 */
export const createHostService = (handlers: Handlers, proofs: Pick<ProofVerifier, 'require'>) =>
  serviceHandler(definition, {
    preview: (_context, input) => handlers.preview(input).catch(refuse),
    readDiff: (_context, input) => handlers.readDiff(input).catch(refuse),
    inspect: (_context, input) =>
      proofs
        .require(inspectMessage(input), input.proof)
        .then(() => handlers.inspect(input))
        .catch(refuse),
  });

/** A query without a valid proof is refused for good: Temporal would retry any other failure. */
function refuse(error: unknown): never {
  if (!(error instanceof ApplicationFailure) || error.type !== messageUnproven) {
    throw error;
  }
  throw new HandlerError('UNAUTHORIZED', error.message);
}
