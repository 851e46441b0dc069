import { proxyActivities } from '@temporalio/workflow';
import type { RepositoryActivities } from '../../activities/repository-setup/activities';
import { hostQueue } from '../queues';
import type { RepositoryProblem, RepositorySetupInput } from './messages';

/** Has a host inspect a repository and record its settings. A caller waits for it: two tries, no more. */
export async function repositorySetup(input: RepositorySetupInput): Promise<RepositoryProblem | null> {
  const { setUpRepository } = proxyActivities<RepositoryActivities>({
    taskQueue: hostQueue(input.hostId),
    startToCloseTimeout: '20 seconds',
    scheduleToCloseTimeout: '25 seconds',
    retry: { maximumAttempts: 2 },
    summary: 'record the settings of a repository',
  });
  return setUpRepository(input);
}
