import type { AdmissionSettings } from '../../contracts/settings';
import type { Log } from '../../platform/log/log';
import { policiesOf, type Policy } from '../../runs/admission/capacity';
import type { AdmissionRequest } from '../../runs/admission/request';
import type { AdmissionRequestStore } from '../../stores/admission-request-store';
import type { HostStore } from '../../stores/host-store';
import type { QueueStore } from '../../stores/queue-store';
import type { ReservationStore } from '../../stores/reservation-store';
import type { SettingsStore } from '../../stores/settings-store';
import type { TelemetryStore } from '../../stores/telemetry-store';
import type { TraceStore } from '../../stores/trace-store';
import type { TreeStore } from '../../stores/tree-store';

/** The stores that decide who may run. */
export interface AdmissionStores {
  requests: AdmissionRequestStore;
  reservations: ReservationStore;
  queue: QueueStore;
  trees: TreeStore;
  settings: SettingsStore;
}

export interface AdmissionControl extends AdmissionStores {
  telemetry: Pick<TelemetryStore, 'usageOf'>;
  hosts: Pick<HostStore, 'capacityOf'>;
  traces: Pick<TraceStore, 'record'>;
  /** Wakes the scheduler of the queue. */
  wakeScheduler(): Promise<void>;
  log: Log;
  now(): Date;
}

/** The ceilings that hold for a request now. */
export async function policiesFor(
  { hosts }: Pick<AdmissionControl, 'hosts'>,
  settings: AdmissionSettings,
  request: AdmissionRequest,
): Promise<Policy[]> {
  const runs = request.hostId === null ? undefined : (await hosts.capacityOf(request.hostId)).runs;
  return policiesOf(settings, request, runs);
}

/** Longest hint at when to ask again, in milliseconds. */
const longestRetryMs = 60_000;

/** When it is worth asking again: the deeper the queue, the later, within a minute. */
export const retryAfter = ({ retryAfterMs }: AdmissionSettings, depth: number): number =>
  Math.max(retryAfterMs, Math.min(longestRetryMs, retryAfterMs * (1 + Math.floor(depth / 20))));
