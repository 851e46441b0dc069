import { type Client, WorkflowFailedError } from '@temporalio/client';
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import type { AdapterProbe } from '../../contracts/chat/adapter';
import type { PollReport } from '../../contracts/chat/adapter-delivery';
import { AppError } from '../../platform/errors/app-error';
import { withinDeadline } from '../clients/deadline';
import { boardQueue } from '../queues';
import { adapterRequestId, type AdapterRequestInput } from './messages';

type Asked = Pick<AdapterRequestInput, 'adapterId' | 'revision'>;

/** What workers ask the other sides of adapters for callers who wait. */
export interface AdapterRequests {
  /** Has the adapter probed; the probe is in the stores. @throws AppError 502, 503 */
  probe(asked: Asked): Promise<AdapterProbe['status']>;
  /** @throws AppError 502 with the reason of the other side, 503 */
  poll(asked: Asked): Promise<PollReport>;
  /** Has the definitions of a community read into the stores; returns how many. @throws AppError 502, 503 */
  readDefinitions(asked: Asked): Promise<number>;
}

const pending = () =>
  new AppError('ADAPTER_REQUEST_PENDING', {
    status: 503,
    message: 'No worker responded in time. Repeat the request.',
    details: { retryAfterMs: 5_000 },
  });

export function createAdapterRequests(client: Client): AdapterRequests {
  async function ask<T>(input: AdapterRequestInput): Promise<T> {
    try {
      return await withinDeadline(client, { pending }, () =>
        client.workflow.execute<(input: AdapterRequestInput) => Promise<T>>('adapterRequest', {
          workflowId: adapterRequestId(input),
          taskQueue: boardQueue,
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowExecutionTimeout: '90 seconds',
          staticSummary: `${input.question.kind} of ${input.adapterId}`,
          args: [input],
        }),
      );
    } catch (error) {
      throw refusalOf(input.adapterId, error) ?? error;
    }
  }

  return {
    probe: (asked) => ask({ ...asked, question: { kind: 'probe' } }),
    readDefinitions: (asked) => ask({ ...asked, question: { kind: 'definitions' } }),
    poll: (asked) => ask({ ...asked, question: { kind: 'poll' } }),
  };
}

/** Why a worker could not ask the other side. */
function refusalOf(adapterId: string, error: unknown): AppError | undefined {
  const failure = error instanceof WorkflowFailedError ? error.cause : undefined;
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  if (cause instanceof ApplicationFailure) {
    const details = { adapterId, reasonCode: cause.type ?? 'unavailable' };
    return new AppError('ADAPTER_UNAVAILABLE', { status: 502, message: cause.message, details });
  }
  return failure === undefined ? undefined : pending();
}
