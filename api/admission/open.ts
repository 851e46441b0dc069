import { createAdmissionRequestStore } from '../../stores/admission-request-store';
import { createHostStore } from '../../stores/host-store';
import { createQueueStore } from '../../stores/queue-store';
import { createReservationStore } from '../../stores/reservation-store';
import { createTreeStore } from '../../stores/tree-store';
import { reportTreeControl } from '../../stores/tree-telemetry';
import type { OpenArea } from '../durable-context';
import type { AdmissionContext } from './context';
import { createAdmissionLauncher } from './launcher';
import { admissionRoutes } from './routes';

export const openAdmission: OpenArea = async ({ client, database, now, proofs, runs, settings, telemetry }) => {
  const [requests, reservations, queue, trees, hosts] = await Promise.all([
    createAdmissionRequestStore(database),
    createReservationStore(database),
    createQueueStore(database),
    createTreeStore(database, reportTreeControl(telemetry)),
    createHostStore(database),
  ]);
  const launcher = createAdmissionLauncher(client, runs.launcher, proofs);
  const context: AdmissionContext = {
    requests,
    reservations,
    queue,
    trees,
    hosts,
    settings,
    telemetry,
    launcher,
    now,
  };
  return (routes) => admissionRoutes(routes, context);
};
