import { randomUUID } from 'node:crypto';
import { type Client, type ScheduleDescription, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { type MessageProofs, startProofMs } from '../../platform/crypto/message-proof';
import type { Log } from '../../platform/log/log';
import type { ScheduledDeliverableRecord } from '../../stores/runs/schedules/scheduled-deliverable-store';
import { createScheduleClient } from '../clients/schedule-client';
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
  const schedules = createScheduleClient(client, log);
  return {
    /** @throws AppError 400 when Temporal cannot read the times or they never come, 503 */
    check: (timing: Timing): Promise<void> =>
      schedules.check(
        timing.schedule === 'custom' ? 'cronExpr' : 'schedule',
        deliverableSchedule({ ...timing, id: `check-${randomUUID()}`, enabled: false, revision: 0 }),
      ),
    /** Makes the Schedule match the definition. */
    follow: (definition: ScheduledDeliverableRecord): Promise<void> =>
      schedules.ensure(deliverableSchedule(definition)),
    drop: (id: string): Promise<void> => schedules.drop(deliverableScheduleId(id)),
    start: (id: string, run: DeliverableRunStart): Promise<void> => {
      const proof = { message: deliverableRunMessage(id, run), lifetimeMs: startProofMs };
      return schedules.within(() => startDeliverableRun(client, id, withProof(proofs, run, proof)));
    },
    /** @throws ScheduleNotFoundError when there is none yet; AppError 503 */
    describe: (id: string): Promise<ScheduleDescription> => schedules.describe(deliverableScheduleId(id)),
  };
}
export type DeliverableSchedules = ReturnType<typeof createDeliverableSchedules>;
