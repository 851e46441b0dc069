import type { CommitPolicy } from '../../contracts/common';
import type { AllowedSideEffect } from '../../contracts/runs/launch/contract';
import type { LaunchRequest } from '../../contracts/runs/launch/launch';
import type { LaunchFinding, OriginScope } from '../../contracts/runs/launch/manifest';
import type { Task } from '../../contracts/tasks/task';

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
  if (request.commitPolicy) {
    return { value: request.commitPolicy, source: 'run' };
  }
  if (task.executionPolicy?.commitPolicy) {
    return { value: task.executionPolicy.commitPolicy, source: 'task' };
  }
  return autoCommitOnComplete ? { value: 'required', source: 'settings' } : { value: 'allowed', source: 'default' };
}

const allowsCommits = (allowed: readonly AllowedSideEffect[]): boolean =>
  allowed.some(({ kind }) => kind === 'git-commit');

/** What a request or a task requires is retained, to be refused; a setting or a default is reduced to what the run may do. */
const isExplicit = ({ value, source }: ResolvedCommitPolicy): boolean =>
  value === 'required' && (source === 'run' || source === 'task');

/** The commit policy of an envelope: `forbidden` where the phase, the sandbox or the task exclude commits. */
export const commitPolicyWithin = (
  policy: ResolvedCommitPolicy,
  allowed: readonly AllowedSideEffect[],
): CommitPolicy => (allowsCommits(allowed) || isExplicit(policy) ? policy.value : 'forbidden');

/** A launch that requires a commit and allows none can only fail. */
export const commitContradiction = (
  policy: ResolvedCommitPolicy,
  allowed: readonly AllowedSideEffect[],
): LaunchFinding[] =>
  !isExplicit(policy) || allowsCommits(allowed)
    ? []
    : [
        {
          code: 'commit-required-not-allowed',
          message: 'The commit policy requires a commit, which the phase or the allowed side effects do not permit.',
        },
      ];
