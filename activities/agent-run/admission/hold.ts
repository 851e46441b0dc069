import { ApplicationFailure } from '@temporalio/common';
import { type AdmissionControl, policiesFor } from './dependencies';

export interface HoldDependencies extends Pick<
  AdmissionControl,
  'reservations' | 'requests' | 'trees' | 'settings' | 'now'
> {
  hosts: Pick<AdmissionControl['hosts'], 'capacityOf'>;
}

/**
 * The one gate before a provider: passes only an attempt that has capacity reserved, and commits it. A lease that ran out while
 * its host was unavailable is taken again if there is capacity.
 *
 * @throws ApplicationFailure `ADMISSION_RESERVATION_MISSING`, or `EXECUTION_TREE_CANCELLED`; no provider may be called
 */
export async function requireReservation(deps: HoldDependencies, attemptId: string): Promise<void> {
  const request = await deps.requests.get(attemptId);
  if (!request) {
    throw missing(attemptId);
  }
  const tree = await deps.trees.get(request.rootObjectiveId);
  if (tree?.state === 'cancelled') {
    throw ApplicationFailure.nonRetryable(
      `The execution tree of ${attemptId} is cancelled.`,
      'EXECUTION_TREE_CANCELLED',
    );
  }
  if (await deps.reservations.commit(attemptId, deps.now())) {
    return;
  }
  const { admission } = await deps.settings.current();
  const policies = await policiesFor(deps, admission, request);
  await deps.reservations.reserve(request, policies, { now: deps.now(), leaseMs: admission.leaseMs });
  if (await deps.reservations.commit(attemptId, deps.now())) {
    return;
  }
  throw missing(attemptId);
}

const missing = (attemptId: string) =>
  ApplicationFailure.nonRetryable(`${attemptId} has no reservation.`, 'ADMISSION_RESERVATION_MISSING');
