import type { Client } from '@temporalio/client';
import { createAdmissionRequestStore } from '../../stores/admission-request-store';
import { createHostStore } from '../../stores/host-store';
import { createQueueStore } from '../../stores/queue-store';
import { createReservationStore } from '../../stores/reservation-store';
import { createTreeStore } from '../../stores/tree-store';
import type { ApiContext } from '../context';
import type { RunLauncher } from '../runs/launcher';
import type { AdmissionContext } from './context';
import { createAdmissionLauncher } from './launcher';

/** Opens what the endpoints of admission need, on the stores of this process. */
export async function openAdmission(
  { database, settings }: Pick<ApiContext, 'database' | 'settings'>,
  client: Client,
  runs: Pick<RunLauncher, 'stop'>,
): Promise<AdmissionContext> {
  const [requests, reservations, queue, trees, hosts] = await Promise.all([
    createAdmissionRequestStore(database),
    createReservationStore(database),
    createQueueStore(database),
    createTreeStore(database),
    createHostStore(database),
  ]);
  const launcher = createAdmissionLauncher(client, runs);
  return { requests, reservations, queue, trees, hosts, settings, launcher, now: () => new Date() };
}
