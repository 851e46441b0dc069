import type { AdmissionControl } from '../../activities/agent-run/admission/dependencies';
import type { Log } from '../../platform/log/log';
import { createTraceStore } from '../../stores/governance/trace-store';
import type { Database } from '../../stores/port/collection';
import { createAdmissionRequestStore } from '../../stores/runs/admission/admission-request-store';
import { createQueueStore } from '../../stores/runs/admission/queue-store';
import { createReservationStore } from '../../stores/runs/admission/reservation-store';
import { createTreeStore } from '../../stores/runs/admission/tree-store';
import { createSettingsStore } from '../../stores/settings/settings-store';
import { createTelemetryStore } from '../../stores/system/telemetry-store';

export interface ControlOptions extends Pick<AdmissionControl, 'hosts'> {
  maxRuns: number;
  log: Log;
  /** Nothing is woken when absent. */
  wakeScheduler?: () => Promise<void>;
}

/** Admission with the real stores of a database, and a queue for 100,000 launches. */
export async function openControl(
  database: Database,
  { maxRuns, hosts, log, wakeScheduler = async () => undefined }: ControlOptions,
): Promise<AdmissionControl> {
  const [requests, reservations, queue, trees, settings] = await Promise.all([
    createAdmissionRequestStore(database),
    createReservationStore(database),
    createQueueStore(database),
    createTreeStore(database),
    createSettingsStore(database, { BOARD_MAX_RUNS: maxRuns, BOARD_RUN_TIMEOUT_MS: 60_000 }),
  ]);
  await settings.patch({ admission: { queue: { globalLimit: 100_000, perWorkspaceLimit: 100_000 } } });
  return {
    requests,
    reservations,
    queue,
    trees,
    settings,
    log,
    telemetry: await createTelemetryStore(database),
    traces: await createTraceStore(database),
    hosts,
    now: () => new Date(),
    wakeScheduler,
  };
}
