import { type Client, WorkflowFailedError } from '@temporalio/client';
import type { ToolDiscovery } from '../../contracts/integrations/tool-server';
import type { Refusal } from '../../contracts/refusal';
import { type MessageProofs, updateProofMs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { withinDeadline } from '../clients/deadline';
import { withProof } from '../clients/with-proof';
import { toolDiscoveryMessage } from '../message-proofs';
import { boardQueue } from '../queues';
import { type DiscoveredServer, toolDiscoveryId, type ToolDiscoveryInput } from './messages';

/** Has a host discover the tools of a server, or joins the discovery of the same definition that runs. */
export type DiscoverTools = (server: Omit<DiscoveredServer, 'requestedAt'>) => Promise<ToolDiscovery | Refusal>;

interface Options {
  proofs: Pick<MessageProofs, 'sign'>;
  heartbeatTimeoutMs: number;
  now: () => Date;
}

/** @throws AppError 503 `DISCOVERY_PENDING` when it takes longer than a caller waits: it continues */
export const createToolDiscovery =
  (client: Client, { proofs, heartbeatTimeoutMs, now }: Options): DiscoverTools =>
  (server) => {
    const discovered: DiscoveredServer = { ...server, requestedAt: now().toISOString() };
    const signed = withProof(proofs, discovered, {
      message: toolDiscoveryMessage(discovered),
      lifetimeMs: updateProofMs,
    });
    return withinDeadline(client, { pending: () => pending(discovered) }, () =>
      client.workflow.execute<(input: ToolDiscoveryInput) => Promise<ToolDiscovery | Refusal>>('toolDiscovery', {
        workflowId: toolDiscoveryId(discovered),
        taskQueue: boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowExecutionTimeout: '16 minutes',
        staticSummary: `discover the tools of ${server.serverId}`,
        args: [{ ...signed, heartbeatTimeoutMs }],
      }),
    ).catch((error: unknown) => {
      throw error instanceof WorkflowFailedError ? unfinished(discovered) : error;
    });
  };

const failure = (code: string, { serverId, hostId }: DiscoveredServer, message: string) =>
  new AppError(code, { status: 503, message, details: { serverId, hostId, retryAfterMs: 5_000 } });

const unfinished = (server: DiscoveredServer) =>
  failure(
    'DISCOVERY_UNFINISHED',
    server,
    `No worker of ${server.hostId} came to the end of the discovery of ${server.serverId}. Repeat the request.`,
  );

const pending = (server: DiscoveredServer) =>
  failure(
    'DISCOVERY_PENDING',
    server,
    `The discovery of ${server.serverId} on ${server.hostId} is still running. Repeat the request to wait for the same one.`,
  );
