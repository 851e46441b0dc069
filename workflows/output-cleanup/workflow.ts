import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { OutputArtifactActivities, OutputCleanup } from '../../activities/output-cleanup/activities';

const { cleanUpOutput } = proxyActivities<OutputArtifactActivities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 10 },
  summary: 'remove expired output',
});

/** Removes the content of output artifacts whose time is over. Started by a schedule; what it misses is due again. */
export async function outputCleanup(): Promise<OutputCleanup> {
  const done = await cleanUpOutput();
  setCurrentDetails(`${done.removed} artifacts removed, ${done.held} held by an active run.`);
  return done;
}
