import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { type MessageProofs, updateProofMs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { withinDeadline } from '../clients/deadline';
import { withProof } from '../clients/with-proof';
import { repositoryMessage } from '../message-proofs';
import { boardQueue } from '../queues';
import {
  type ConfiguredRepository,
  type RepositoryProblem,
  repositorySetupId,
  type RepositorySetupInput,
} from './messages';

/** Has a host record the settings of a repository; returns why it is not usable as configured, or `null`. */
export type SetUpRepository = (place: ConfiguredRepository) => Promise<RepositoryProblem | null>;

/** @throws AppError 503 `REPOSITORY_PENDING` when the host does not respond in time */
export const createRepositorySetup =
  (client: Client, proofs: Pick<MessageProofs, 'sign'>): SetUpRepository =>
  (place) =>
    withinDeadline(client, { pending }, () =>
      client.workflow.execute<(input: RepositorySetupInput) => Promise<RepositoryProblem | null>>('repositorySetup', {
        workflowId: repositorySetupId(randomUUID()),
        taskQueue: boardQueue,
        workflowExecutionTimeout: '30 seconds',
        args: [withProof(proofs, place, { message: repositoryMessage(place), lifetimeMs: updateProofMs })],
      }),
    );

const pending = () =>
  new AppError('REPOSITORY_PENDING', {
    status: 503,
    message: 'The host of the repository does not respond. Nothing was stored; try again.',
    details: { retryAfterMs: 5_000 },
  });
