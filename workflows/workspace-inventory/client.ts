import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { Refusal } from '../../contracts/refusal';
import type { WorkspaceInventory } from '../../contracts/runs/trust';
import { type MessageProofs, updateProofMs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { withinDeadline } from '../clients/deadline';
import { withProof } from '../clients/with-proof';
import { inventoryMessage } from '../message-proofs';
import { boardQueue } from '../queues';
import { workspaceInventoryId } from './messages';
import type { WorkspaceInventoryInput } from './workflow';

type Looked = WorkspaceInventory | null | Refusal;

/** The workflow that inspects a workspace on its host. */
export function createTrustLauncher(client: Client, proofs: Pick<MessageProofs, 'sign'>) {
  return {
    /** @throws AppError 503 `INVENTORY_PENDING` when no host responds in time */
    look: ({ hostId, ...place }: WorkspaceInventoryInput): Promise<Looked> =>
      withinDeadline(client, { pending }, () =>
        client.workflow.execute<(input: WorkspaceInventoryInput) => Promise<Looked>>('workspaceInventory', {
          workflowId: workspaceInventoryId(randomUUID()),
          taskQueue: boardQueue,
          workflowExecutionTimeout: '30 seconds',
          args: [
            { hostId, ...withProof(proofs, place, { message: inventoryMessage(place), lifetimeMs: updateProofMs }) },
          ],
        }),
      ),
  };
}

const pending = () =>
  new AppError('INVENTORY_PENDING', {
    status: 503,
    message: 'The host of the workspace does not respond. Try again.',
    details: { retryAfterMs: 5_000 },
  });
