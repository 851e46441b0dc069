import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { updateProofMs, type MessageProofs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { repositoryMessage } from '../../workflows/message-proofs';
import { boardQueue } from '../../workflows/queues';
import {
  repositorySetupId,
  type RepositoryPlace,
  type RepositoryProblem,
  type RepositorySetupInput,
} from '../../workflows/repository-setup/messages';
import { withinDeadline } from '../temporal/deadline';
import { withProof } from '../temporal/with-proof';

/** Has a host record the settings of a repository; answers why it cannot be used as it is configured, or `null`. */
export type SetUpRepository = (place: RepositoryPlace) => Promise<RepositoryProblem | null>;

/** @throws AppError 503 `REPOSITORY_PENDING` when the host does not answer in time */
export const createRepositorySetup =
  (client: Client, proofs: Pick<MessageProofs, 'sign'>): SetUpRepository =>
  (place) =>
    withinDeadline(client, pending, () =>
      client.workflow.execute<(input: RepositorySetupInput) => Promise<RepositoryProblem | null>>('repositorySetup', {
        workflowId: repositorySetupId(randomUUID()),
        taskQueue: boardQueue,
        workflowExecutionTimeout: '30 seconds',
        args: [withProof(proofs, place, repositoryMessage(place), updateProofMs)],
      }),
    );

const pending = () =>
  new AppError(
    'REPOSITORY_PENDING',
    503,
    'The host of the repository does not answer. Nothing was stored; ask again.',
    {
      retryAfterMs: 5_000,
    },
  );
