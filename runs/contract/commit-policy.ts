import type { CommitPolicy } from '../../contracts/common';
import type { LaunchRequest } from '../../contracts/launch';
import type { OriginScope } from '../../contracts/launch-manifest';
import type { Task } from '../../contracts/task';

export interface ResolvedCommitPolicy {
  value: CommitPolicy;
  /** Where it comes from. */
  source: Extract<OriginScope, 'run' | 'task' | 'settings' | 'default'>;
}

/**
 * The run's value, then the task's, then the legacy setting `features.agents.autoCommitOnComplete`: true is `required`,
 * false or absent is `allowed` (specification 2, Launch rule 5).
 */
export function commitPolicyOf(
  request: Pick<LaunchRequest, 'commitPolicy'>,
  task: Pick<Task, 'executionPolicy'>,
  autoCommitOnComplete?: boolean,
): ResolvedCommitPolicy {
  if (request.commitPolicy) return { value: request.commitPolicy, source: 'run' };
  if (task.executionPolicy?.commitPolicy) return { value: task.executionPolicy.commitPolicy, source: 'task' };
  return autoCommitOnComplete ? { value: 'required', source: 'settings' } : { value: 'allowed', source: 'default' };
}
