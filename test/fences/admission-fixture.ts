import { join } from 'node:path';
import type { AdmissionControl } from '../../activities/agent-run/admission/dependencies';
import { createLog } from '../../platform/log/log';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { createTraceStore } from '../../stores/governance/trace-store';
import { createAdmissionRequestStore } from '../../stores/runs/admission/admission-request-store';
import { createQueueStore } from '../../stores/runs/admission/queue-store';
import { createReservationStore } from '../../stores/runs/admission/reservation-store';
import { createTreeStore } from '../../stores/runs/admission/tree-store';
import { createSettingsStore } from '../../stores/settings/settings-store';
import { openSqlite } from '../../stores/sqlite/database';
import { createTelemetryStore } from '../../stores/system/telemetry-store';
import { type Interleaving, interleaving } from './interleaving';

export const log = createLog({ name: 'test', level: 'silent' });

/** The stores of admission in a directory of their own, with a host that can be away and steps that can be interrupted. */
export interface AdmissionFixture {
  db: Interleaving;
  control: AdmissionControl;
  /** What the hosts report of themselves. */
  host: { takesWork: boolean; runs: number | undefined };
  woken: string[];
  close(): Promise<void>;
}

export async function admissionFixture(now: () => Date, maxRuns = 2): Promise<AdmissionFixture> {
  const dir = await makeTempDir('fences');
  const db = interleaving(await openSqlite({ file: join(dir.path, 'board.sqlite'), log }));
  const host = { takesWork: true, runs: undefined };
  const woken: string[] = [];
  const control: AdmissionControl = {
    requests: await createAdmissionRequestStore(db),
    reservations: await createReservationStore(db),
    queue: await createQueueStore(db),
    trees: await createTreeStore(db),
    settings: await createSettingsStore(db, { BOARD_MAX_RUNS: maxRuns, BOARD_RUN_TIMEOUT_MS: 60_000 }),
    telemetry: await createTelemetryStore(db),
    traces: await createTraceStore(db),
    hosts: { capacityOf: async () => host, capacities: async () => new Map([['here', host]]) },
    log,
    now,
    wakeScheduler: async () => void woken.push('scheduler'),
  };
  const close = async () => {
    await db.close();
    await dir.remove();
  };
  return { db, control, host, woken, close };
}
