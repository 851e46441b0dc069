import { proxyActivities } from '@temporalio/workflow';
import type { RepositoryViewActivities } from '../../activities/repository-view/activities';
import type { Refusal } from '../../contracts/refusal';
import { hostQueue } from '../queues';
import type { BranchPage, InspectedRepository, RepositoryBranchesInput, RepositoryInspectionInput } from './messages';

/** A caller waits: two tries, no more. */
const viewOn = (hostId: string, summary: string) =>
  proxyActivities<RepositoryViewActivities>({
    taskQueue: hostQueue(hostId),
    startToCloseTimeout: '20 seconds',
    scheduleToCloseTimeout: '24 seconds',
    retry: { maximumAttempts: 2 },
    summary,
  });

/** Has a host inspect a repository that might be configured; nothing is recorded. */
export function repositoryInspection(input: RepositoryInspectionInput): Promise<InspectedRepository> {
  return viewOn(input.hostId, 'inspect a repository').inspectRepository(input);
}

/** Has a host list the branches of a configured repository. */
export function repositoryBranches(input: RepositoryBranchesInput): Promise<BranchPage | Refusal> {
  return viewOn(input.hostId, 'list the branches of a repository').listBranches(input);
}
