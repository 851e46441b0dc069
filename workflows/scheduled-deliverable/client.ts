import { randomUUID } from 'node:crypto';
import { type Client, type ScheduleDescription, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { type MessageProofs, startProofMs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import type { Log } from '../../platform/log/log';
import { dropSchedule, ensureSchedule, tryOutSchedule } from '../../platform/temporal/ensure-schedule';
import type { ScheduledDeliverableRecord } from '../../stores/runs/schedules/scheduled-deliverable-store';
import { checkSchedule } from '../clients/check-schedule';
import { withinDeadline } from '../clients/deadline';
import { withProof } from '../clients/with-proof';
import { deliverableRunMessage } from '../message-proofs';
import { boardQueue } from '../queues';
import {
  type DeliverableRunStart,
  deliverableRunWorkflowId,
  deliverableSchedule,
  deliverableScheduleId,
  type StartedRun,
} from './messages';

type Timing = Pick<
  ScheduledDeliverableRecord,
  'schedule' | 'cronExpr' | 'timezone' | 'overlapPolicy' | 'catchUpMinutes'
>;

interface Sources {
  client: Client;
  proofs: Pick<MessageProofs, 'sign'>;
  log: Log;
}

const pending = () =>
  new AppError('SCHEDULE_PENDING', {
    status: 503,
    message: 'Temporal did not respond in time. Try again.',
    details: { retryAfterMs: 5_000 },
  });

/** Starts one run of a definition, once for its id. */
export async function startDeliverableRun(client: Client, id: string, started: StartedRun): Promise<void> {
  try {
    await client.workflow.start('scheduledDeliverable', {
      workflowId: deliverableRunWorkflowId(id, started.runId),
      taskQueue: boardQueue,
      args: [id, started],
      staticSummary: 'scheduled deliverable',
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
      throw error;
    }
  }
}

/** The Schedules of scheduled deliverables, which follow the definitions, for those who call within a deadline. */
export function createDeliverableSchedules({ client, proofs, log }: Sources) {
  const within = <T>(call: () => Promise<T>) => withinDeadline(client, { pending }, call);
  return {
    /** @throws AppError 400 when Temporal cannot read the times or they never come, 503 */
    async check(timing: Timing): Promise<void> {
      const tried = deliverableSchedule({ ...timing, id: `check-${randomUUID()}`, enabled: false, revision: 0 });
      const path = timing.schedule === 'custom' ? 'cronExpr' : 'schedule';
      await checkSchedule(path, () => within(() => tryOutSchedule(client, tried)));
    },
    /** Makes the Schedule match the definition; a failure is mended by the workers, which compare both every minute. */
    async follow(definition: ScheduledDeliverableRecord): Promise<void> {
      await within(() => ensureSchedule(client, deliverableSchedule(definition))).catch((error: unknown) =>
        log.warn({ err: error, id: definition.id }, 'deliverable schedule creation deferred'),
      );
    },
    async drop(id: string): Promise<void> {
      await within(() => dropSchedule(client, deliverableScheduleId(id))).catch((error: unknown) =>
        log.warn({ err: error, id }, 'deliverable schedule removal deferred'),
      );
    },
    start: (id: string, run: DeliverableRunStart): Promise<void> => {
      const proof = { message: deliverableRunMessage(id, run), lifetimeMs: startProofMs };
      return within(() => startDeliverableRun(client, id, withProof(proofs, run, proof)));
    },
    /** @throws ScheduleNotFoundError when there is none yet; AppError 503 */
    describe: (id: string): Promise<ScheduleDescription> =>
      within(() => client.schedule.getHandle(deliverableScheduleId(id)).describe()),
  };
}
export type DeliverableSchedules = ReturnType<typeof createDeliverableSchedules>;
