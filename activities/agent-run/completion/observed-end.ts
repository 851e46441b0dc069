import { ApplicationFailure } from '@temporalio/common';
import { redactClaim, type TerminalClaim } from '../../../domain/completion';
import { withHeartbeat } from '../../../platform/temporal/heartbeat';
import type { Git } from '../../../providers/git/git';
import type { AttemptRecord, AttemptStore } from '../../../stores/runs/attempt-store';
import type { ClaimStore } from '../../../stores/runs/claim-store';
import type { ObservedEnd } from '../../../stores/runs/observed-end';
import type { WorktreeFences } from '../../worktree/fences';
import { recordRemade } from '../../worktree/replaced';
import { keepWork, type KeepWorkDependencies } from './keep-work';
import { observeWorktree } from './observe-worktree';

export interface ObservedEndDependencies extends KeepWorkDependencies {
  git: Git;
  fences: Pick<WorktreeFences, 'take'>;
  attempts: Pick<AttemptStore, 'get' | 'observe'>;
  claims: Pick<ClaimStore, 'get'>;
}

export function createObservedEndActivities(deps: ObservedEndDependencies) {
  return {
    /**
     * Inspects the worktree of a run whose agent works elsewhere and has reported its end, like that of an agent of this host:
     * commits, changed files, and the files it claims; what is uncommitted is committed. Stored with the attempt before the end
     * is judged.
     */
    async observeEnd({ attemptId, claimDigest }: { attemptId: string; claimDigest: string }): Promise<void> {
      const record = await deps.attempts.get(attemptId);
      if (!record) {
        throw ApplicationFailure.nonRetryable(`No attempt ${attemptId}.`, 'ATTEMPT_MISSING');
      }
      if (record.observed || record.completion) {
        return;
      }
      await withHeartbeat(async () => {
        const claim = await deps.claims.get(attemptId, claimDigest);
        const seen = await observeWorktree(deps, record, claim?.claims ?? {});
        if (seen) {
          const kept = claim ? await keep(record, { ...claim, harness: { ...claim.harness, ...seen } }) : {};
          await deps.attempts.observe(attemptId, redactClaim({ ...ofWorkedIn(seen), ...kept }));
        }
      });
    },
  };

  async function keep(record: AttemptRecord, claim: TerminalClaim): Promise<ObservedEnd> {
    const fence = await deps.fences.take(record.taskId, { attemptId: record._id, stage: 'run' });
    if (!fence) {
      return {};
    }
    await recordRemade(deps, record, fence);
    return keepWork(deps, record, { claim, git: deps.git.under(fence) });
  }
}

/** A worktree without any change was not worked in: it is no evidence about the agent's claims of other locations. */
function ofWorkedIn(seen: ObservedEnd): ObservedEnd {
  const untouched = seen.commits?.length === 0 && seen.changedFiles?.length === 0;
  return untouched ? { headSha: seen.headSha, branch: seen.branch, outside: seen.outside } : seen;
}

export type ObservedEndActivities = ReturnType<typeof createObservedEndActivities>;
