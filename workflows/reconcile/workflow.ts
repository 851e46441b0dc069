import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { ReconcileActivities, Reconciled } from '../../activities/reconcile/activities';

const { reconcileRuns } = proxyActivities<ReconcileActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds', maximumAttempts: 10 },
  summary: 'reconcile runs',
});

/** Resumes runs, recoveries and acceptances whose workflow was lost or terminated. Started by a schedule, and by hand in its page. */
export async function reconcile(): Promise<Reconciled> {
  const reconciled = await reconcileRuns();
  setCurrentDetails(
    `${reconciled.looked} inspected, ${reconciled.runs} runs and ${reconciled.recoveries} recoveries resumed, ${reconciled.reviews} reviews settled.`,
  );
  return reconciled;
}
