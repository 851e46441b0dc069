import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { LaunchRefusal } from '../../contracts/launch';
import type { WorkspaceInventory } from '../../contracts/workspace-trust';
import { updateProofMs, type MessageProofs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { inventoryMessage } from '../../workflows/message-proofs';
import { boardQueue } from '../../workflows/queues';
import { workspaceInventoryId } from '../../workflows/workspace-inventory/messages';
import type { WorkspaceInventoryInput } from '../../workflows/workspace-inventory/workflow';
import { withinDeadline } from '../temporal/deadline';
import { withProof } from '../temporal/with-proof';

type Looked = WorkspaceInventory | null | LaunchRefusal;

/** The workflow that looks at a workspace on its host. */
export function createTrustLauncher(client: Client, proofs: Pick<MessageProofs, 'sign'>) {
  return {
    /** @throws AppError 503 `INVENTORY_PENDING` when no host answers in time */
    look: ({ hostId, ...place }: WorkspaceInventoryInput): Promise<Looked> =>
      withinDeadline(client, pending, () =>
        client.workflow.execute<(input: WorkspaceInventoryInput) => Promise<Looked>>('workspaceInventory', {
          workflowId: workspaceInventoryId(randomUUID()),
          taskQueue: boardQueue,
          workflowExecutionTimeout: '30 seconds',
          args: [{ hostId, ...withProof(proofs, place, inventoryMessage(place), updateProofMs) }],
        }),
      ),
  };
}

export type TrustLauncher = ReturnType<typeof createTrustLauncher>;

const pending = () =>
  new AppError('INVENTORY_PENDING', 503, 'The host of the workspace does not answer. Ask again.', {
    retryAfterMs: 5_000,
  });
