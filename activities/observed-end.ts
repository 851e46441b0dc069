import { ApplicationFailure } from '@temporalio/common';
import type { Git } from '../providers/git/git';
import { redactClaim } from '../runs/completion';
import type { AttemptStore, ObservedEnd } from '../stores/attempt-store';
import type { ClaimStore } from '../stores/claim-store';
import { findClaimedFiles } from './claimed-files';
import { withHeartbeat } from './heartbeat';
import { lookOutside, type SurroundingsDependencies } from './surroundings';

export interface ObservedEndDependencies extends SurroundingsDependencies {
  attempts: Pick<AttemptStore, 'get' | 'observe'>;
  claims: Pick<ClaimStore, 'get'>;
  git: Pick<Git, 'collectChanges' | 'describeSurroundings'>;
}

export function createObservedEndActivities(deps: ObservedEndDependencies) {
  return {
    /**
     * Looks at the worktree of a run whose agent works elsewhere and has reported its end, as at that of an agent of this
     * host: commits, changed files, and the files it claims. Kept with the attempt before the end is judged. A worktree in
     * which nothing has happened was not worked in: it says nothing about what the agent claims of other places.
     */
    async observeEnd({ attemptId, claimDigest }: { attemptId: string; claimDigest: string }): Promise<void> {
      const record = await deps.attempts.get(attemptId);
      if (!record) throw ApplicationFailure.nonRetryable(`No attempt ${attemptId}.`, 'ATTEMPT_MISSING');
      const { baseline, taskEnvelope, observed, completion } = record;
      if (!baseline || !taskEnvelope?.workspace || observed || completion) return;
      const { path: worktreePath } = taskEnvelope.workspace;
      await withHeartbeat(async () => {
        const changes = await deps.git.collectChanges({ worktreePath, baseline });
        const claim = await deps.claims.get(attemptId, claimDigest);
        const untouched = changes.commits.length === 0 && changes.changedFiles.length === 0;
        const claimedFiles = untouched ? [] : await findClaimedFiles(worktreePath, claim?.claims ?? {});
        const outside = await lookOutside(deps, record);
        const seen: ObservedEnd = {
          ...(untouched ? { headSha: changes.headSha } : changes),
          ...(claimedFiles.length > 0 ? { claimedFiles } : {}),
          ...(outside.length > 0 ? { outside } : {}),
        };
        await deps.attempts.observe(attemptId, redactClaim(seen));
      });
    },
  };
}

export type ObservedEndActivities = ReturnType<typeof createObservedEndActivities>;
