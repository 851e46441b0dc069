import { proxyActivities } from '@temporalio/workflow';
import type { ForgeCheckActivities } from '../../activities/forge-check/activities';
import type { ForgeCheckResult } from '../../contracts/integrations/forge';
import type { ForgeCheckInput } from './messages';

const { checkForge } = proxyActivities<ForgeCheckActivities>({
  startToCloseTimeout: '12 seconds',
  scheduleToStartTimeout: '5 seconds',
  retry: { maximumAttempts: 1 },
  summary: 'check the credential of the forge',
});

/** Has a worker use the credential of a repository's forge, and changes nothing. A caller waits for it: one try. */
export const forgeCheck = (input: ForgeCheckInput): Promise<ForgeCheckResult> => checkForge(input);
