import { randomUUID } from 'node:crypto';
import { type Client, WorkflowFailedError } from '@temporalio/client';
import type { Refusal } from '../../contracts/refusal';
import { type MessageProofs, type ProvenMessage, updateProofMs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { withinDeadline } from '../clients/deadline';
import { withProof } from '../clients/with-proof';
import { repositoryBranchesMessage, repositoryInspectionMessage } from '../message-proofs';
import { boardQueue } from '../queues';
import {
  type BranchPage,
  type BranchPageRequest,
  type CandidateRepository,
  type InspectedRepository,
  type RepositoryBranchesInput,
  type RepositoryInspectionInput,
  repositoryViewId,
} from './messages';

/** Has a host inspect a repository, of which nothing is recorded. */
export type InspectRepository = (candidate: CandidateRepository) => Promise<InspectedRepository>;

/** Has a host list a page of the branches of a configured repository. */
export type ListBranches = (request: BranchPageRequest) => Promise<BranchPage | Refusal>;

type Proofs = Pick<MessageProofs, 'sign'>;

/** @throws AppError 503 `REPOSITORY_PENDING` when the host does not respond in time */
export const createRepositoryInspection =
  (client: Client, proofs: Proofs): InspectRepository =>
  (candidate) =>
    view(client, () =>
      client.workflow.execute<(input: RepositoryInspectionInput) => Promise<InspectedRepository>>(
        'repositoryInspection',
        { ...newView(), args: [signed(proofs, candidate, repositoryInspectionMessage(candidate))] },
      ),
    );

/** @throws AppError 503 `REPOSITORY_PENDING` when the host does not respond in time */
export const createBranchList =
  (client: Client, proofs: Proofs): ListBranches =>
  (request) =>
    view(client, () =>
      client.workflow.execute<(input: RepositoryBranchesInput) => Promise<BranchPage | Refusal>>('repositoryBranches', {
        ...newView(),
        args: [signed(proofs, request, repositoryBranchesMessage(request))],
      }),
    );

const newView = () => ({
  workflowId: repositoryViewId(randomUUID()),
  taskQueue: boardQueue,
  workflowExecutionTimeout: '30 seconds' as const,
});

const signed = <T extends object>(proofs: Proofs, input: T, message: ProvenMessage) =>
  withProof(proofs, input, { message, lifetimeMs: updateProofMs });

const view = <T>(client: Client, call: () => Promise<T>): Promise<T> =>
  withinDeadline(client, { pending }, call).catch((error: unknown) => {
    throw error instanceof WorkflowFailedError ? pending() : error;
  });

const pending = () =>
  new AppError('REPOSITORY_PENDING', {
    status: 503,
    message: 'The host of the repository does not respond. Nothing was changed; try again.',
    details: { retryAfterMs: 5_000 },
  });
