import type { AdmissionSettings } from '../../../contracts/settings/settings';
import { type CapacityPolicy, policiesOf } from '../../../domain/admission/capacity';
import type { AdmissionRequest } from '../../../domain/admission/request';
import type { Log } from '../../../platform/log/log';
import type { TraceStore } from '../../../stores/governance/trace-store';
import type { Stores } from '../../../stores/open-stores';
import type { AdmissionRequestStore } from '../../../stores/runs/admission/admission-request-store';
import type { HostStore } from '../../../stores/runs/hosts/host-store';
import type { TelemetryStore } from '../../../stores/system/telemetry-store';

/** The stores that admission reads. */
export interface AdmissionStores extends Pick<Stores, 'reservations' | 'queue' | 'trees' | 'settings'> {
  requests: AdmissionRequestStore;
}

export interface AdmissionControl extends AdmissionStores {
  telemetry: Pick<TelemetryStore, 'usageOf'>;
  hosts: Pick<HostStore, 'capacityOf' | 'capacities'>;
  traces: Pick<TraceStore, 'record'>;
  /** Wakes the scheduler of the queue. */
  wakeScheduler(): Promise<void>;
  log: Log;
  now(): Date;
}

/** The ceilings that apply to a request now. */
export async function policiesFor(
  { hosts }: { hosts: Pick<HostStore, 'capacityOf'> },
  settings: AdmissionSettings,
  request: AdmissionRequest,
): Promise<CapacityPolicy[]> {
  const runs = request.hostId === null ? undefined : (await hosts.capacityOf(request.hostId)).runs;
  return policiesOf(settings, request, runs);
}

/** Longest hint at when to retry, in milliseconds. */
const longestRetryMs = 60_000;

/** When a retry is worthwhile: the deeper the queue, the later, within a minute. */
export const retryAfter = ({ retryAfterMs }: AdmissionSettings, depth: number): number =>
  Math.max(retryAfterMs, Math.min(longestRetryMs, retryAfterMs * (1 + Math.floor(depth / 20))));
