import { ApplicationFailure } from '@temporalio/common';
import { HandlerError, operation, service, serviceHandler } from 'nexus-rpc';
import { localWorkspace } from '../contracts/common';
import { messageUnproven } from '../platform/crypto/message-proof-shape';
import type { ProofVerifier } from '../platform/temporal/proof-verifier';
import { type HostOperations, hostService, type OfWorkspace } from '../workflows/host-service';
import { inspectMessage } from '../workflows/message-proofs';
import { workspaceUnknown } from './workspaces';

/** The handler of each query. */
type Handlers = {
  [Q in keyof HostOperations]: (input: HostOperations[Q]['input']) => Promise<HostOperations[Q]['response']>;
};

const hostOperation = <Q extends keyof HostOperations>() =>
  operation<OfWorkspace<HostOperations[Q]['input']>, HostOperations[Q]['response']>();

const definition = service(hostService, {
  preview: hostOperation<'preview'>(),
  inspect: hostOperation<'inspect'>(),
  readDiff: hostOperation<'readDiff'>(),
});

/** What serves the queries of one workspace. */
interface ServedWorkspace {
  handlers: Handlers;
  proofs: Pick<ProofVerifier, 'require'>;
}

/**
 * Serves the queries to this host, with the functions that are its activities as well. Any client of Temporal's HTTP API can
 * send one, a page on the web too: only signed queries are served; a preview and a diff by their activity's own check. A query is
 * proven with the key of the workspace that it names, so that it is of no other.
 */
export function createHostService(of: (workspaceId: string) => Promise<ServedWorkspace>) {
  /** Has the workspace of a query serve it. */
  async function serve<T extends object, R>(
    query: OfWorkspace<T>,
    by: (served: ServedWorkspace, input: T) => Promise<R>,
  ): Promise<R> {
    const { workspaceId = localWorkspace, ...rest } = query;
    // What is left is the input: no query has a field of that name.
    const input = rest as unknown as T;
    try {
      return await by(await of(workspaceId), input);
    } catch (error) {
      return refuse(error);
    }
  }

  return serviceHandler(definition, {
    preview: (_context, query) =>
      serve(query, ({ handlers }, input: HostOperations['preview']['input']) => handlers.preview(input)),
    readDiff: (_context, query) =>
      serve(query, ({ handlers }, input: HostOperations['readDiff']['input']) => handlers.readDiff(input)),
    inspect: (_context, query) =>
      serve(query, async ({ handlers, proofs }, input: HostOperations['inspect']['input']) => {
        await proofs.require(inspectMessage(input), input.proof);
        return handlers.inspect(input);
      }),
  });
}

/** A query without a valid proof, or of no workspace, is refused for good: Temporal would retry any other failure. */
function refuse(error: unknown): never {
  const isForGood =
    error instanceof ApplicationFailure && (error.type === messageUnproven || error.type === workspaceUnknown);
  if (!isForGood) {
    throw error;
  }
  throw new HandlerError('UNAUTHORIZED', error.message);
}
