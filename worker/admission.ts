import { WorkflowNotFoundError, WorkflowUpdateFailedError, WorkflowUpdateStage, type Client } from '@temporalio/client';
import type { AdmissionControl } from '../activities/admission-control/dependencies';
import type { WorkerEnvironment } from '../platform/config/part-settings';
import { updateProofMs, type MessageProofs } from '../platform/crypto/message-proof';
import type { Log } from '../platform/log/log';
import type { PhaseNotice } from '../runs/phases/notice';
import { createAdmissionRequestStore } from '../stores/admission-request-store';
import type { Database } from '../stores/collection';
import type { HostStore } from '../stores/host-store';
import { createQueueStore } from '../stores/queue-store';
import { createReservationStore } from '../stores/reservation-store';
import { createSettingsStore, type SettingsStore } from '../stores/settings-store';
import { createTelemetryStore } from '../stores/telemetry-store';
import type { TraceStore } from '../stores/trace-store';
import { createTreeStore } from '../stores/tree-store';
import { reportTreeControl } from '../stores/tree-telemetry';
import { look, schedulerId } from '../workflows/admission-scheduler/messages';
import { agentRunId, capacityReserved, phaseChanged, stopUpdate } from '../workflows/agent-run/messages';
import { stopMessage } from '../workflows/message-proofs';
import { boardQueue } from '../workflows/queues';

export interface AdmissionParts {
  database: Database;
  env: WorkerEnvironment;
  client: Client;
  hosts: HostStore;
  traces: TraceStore;
  settings?: SettingsStore;
  log: Log;
}

/** Opens what decides who may run. */
export async function openAdmission({ database, env, client, hosts, traces, log, ...given }: AdmissionParts) {
  const telemetry = await createTelemetryStore(database);
  const [requests, reservations, queue, trees, settings] = await Promise.all([
    createAdmissionRequestStore(database),
    createReservationStore(database),
    createQueueStore(database),
    createTreeStore(database, reportTreeControl(telemetry)),
    given.settings ?? createSettingsStore(database, env),
  ]);
  const control: AdmissionControl = {
    requests,
    reservations,
    queue,
    trees,
    settings,
    telemetry,
    hosts,
    traces,
    log,
    now: () => new Date(),
    wakeScheduler: async () => {
      await client.workflow.signalWithStart('admissionScheduler', {
        workflowId: schedulerId,
        taskQueue: boardQueue,
        signal: look,
      });
    },
  };
  return control;
}

/** What is said to runs. */
export const runSignals = (client: Client, proofs: Pick<MessageProofs, 'sign'>) => ({
  /** Tells a queued run to look at its entry; false when its workflow is over. */
  async signalCapacity(attemptId: string): Promise<boolean> {
    try {
      await client.workflow.getHandle(agentRunId(attemptId)).signal(capacityReserved);
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  },

  /** Tells a run what it may do now; one that is over needs not know. */
  async tellPhase(attemptId: string, notice: PhaseNotice): Promise<void> {
    try {
      await client.workflow.getHandle(agentRunId(attemptId)).signal(phaseChanged, notice);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  },

  /** Asks a run to stop without waiting for its end; false when its workflow is over. */
  async requestStop(attemptId: string, actor: string): Promise<boolean> {
    const stop = { attemptId, actor };
    const proof = proofs.sign(stopMessage(stop), updateProofMs);
    try {
      await client.workflow.getHandle(agentRunId(attemptId)).startUpdate(stopUpdate, {
        args: [{ ...stop, proof }],
        waitForStage: WorkflowUpdateStage.ACCEPTED,
        updateId: 'stop-requested',
      });
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError || error instanceof WorkflowUpdateFailedError) return false;
      throw error;
    }
  },
});
