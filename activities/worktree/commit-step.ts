import type { WorktreeOperation } from '../../contracts/runs/worktrees/worktree';
import { refusal } from '../../domain/refusal';
import type { GitErrorCode } from '../../providers/git/git-error';
import type { WorktreeRecord } from '../../stores/runs/workspaces/worktree-store';
import type { WorktreeHostDependencies } from './dependencies';
import { isRefusal } from './git-failure';
import { authorOf, change, placeOf, settle, workMessage } from './record';
import { nothingToCommit } from './refusals';
import { lost, refuse, step, type StepInput, type StepResult } from './step';

/** Reasons of git that leave everything as it was. */
const refusals: GitErrorCode[] = ['stale', 'conflict', 'outside', 'not-a-repository', 'repository-diverted'];

export function commitStep(deps: WorktreeHostDependencies) {
  return {
    /** Commits what is not committed on the branch of the worktree; a merge goes on with that commit. */
    commitWorktree: (input: StepInput): Promise<StepResult> =>
      step(deps, { ...input, expected: 'committing' }, async (record, operation, git) => {
        const { id, kind, actor, headSha = record.base.sha, commitMessage: message = workMessage(record) } = operation;
        const at = { record, operation };
        try {
          const stored = await git.storeWork({ ...placeOf(record), id, message, author: authorOf(actor) });
          if (stored && stored.withheld !== null) {
            return await notCommitted(at, { code: 'withheld', reason: stored.withheld });
          }
          if (kind === 'merge') {
            const merging = { ...operation, headSha: stored?.sha ?? headSha };
            await change(deps, record, { state: 'merging', operation: merging });
            return { state: 'merging' };
          }
          if (!stored) {
            const entry = { code: 'nothing-to-commit', headSha };
            return await refuse(deps, nothingToCommit(record._id, headSha), { ...at, state: 'ready', entry });
          }
          await settle(deps, record, { operation, state: 'ready', entry: { headSha: stored.sha } });
          return { state: 'ready' };
        } catch (error) {
          if (isRefusal(error, 'worktree-replaced')) {
            return lost(deps, at, error);
          }
          if (!isRefusal(error, ...refusals)) {
            throw error;
          }
          return notCommitted(at, { code: error.code, reason: error.message });
        }
      }),
  };

  function notCommitted(
    at: { record: WorktreeRecord; operation: WorktreeOperation },
    { code, reason }: { code: string; reason: string },
  ): Promise<StepResult> {
    const { _id: taskId, path } = at.record;
    const message = `Nothing was committed: ${reason}`;
    const refused = refusal('WORKTREE_NOT_COMMITTED', message, { taskId, path, reason: code });
    return refuse(deps, refused, { ...at, state: 'ready', entry: { code } });
  }
}
