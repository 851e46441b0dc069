import type { AdmissionRequestStore } from '../../stores/admission-request-store';
import type { HostStore } from '../../stores/host-store';
import type { QueueStore } from '../../stores/queue-store';
import type { ReservationStore } from '../../stores/reservation-store';
import type { SettingsStore } from '../../stores/settings-store';
import type { TelemetryStore } from '../../stores/telemetry-store';
import type { TreeStore } from '../../stores/tree-store';
import type { AdmissionLauncher } from './launcher';

/** What the endpoints of admission call. */
export interface AdmissionContext {
  requests: AdmissionRequestStore;
  reservations: ReservationStore;
  queue: QueueStore;
  trees: TreeStore;
  hosts: Pick<HostStore, 'capacityOf'>;
  settings: Pick<SettingsStore, 'read'>;
  telemetry: Pick<TelemetryStore, 'usageOf'>;
  launcher: AdmissionLauncher;
  now(): Date;
}
