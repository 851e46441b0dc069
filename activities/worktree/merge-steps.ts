import { join } from 'node:path';
import { compact } from '../../platform/json/compact';
import type { WorktreeRecord } from '../../stores/runs/workspaces/worktree-store';
import type { WorktreeHostDependencies } from './dependencies';
import { isRefusal } from './git-failure';
import { authorOf, change, remoteOf, settle } from './record';
import { gitRefusal, refuse, step, type StepInput, type StepResult } from './step';

/**
 * A merge in three steps: the merge commit, the push, and the removal of what was needed for them. Between any two of them the
 * manifest records the commit, so that the worker that resumes checks the remote for exactly that one.
 */
export function mergeSteps(deps: WorktreeHostDependencies) {
  return {
    /** Merges the branch into the base in a detached worktree; the primary checkout is not touched. */
    integrateBranch: (input: StepInput): Promise<StepResult> =>
      step(deps, { ...input, expected: 'merging' }, async (record, operation, git) => {
        const {
          id,
          actor,
          headSha = record.base.sha,
          ontoSha = record.base.sha,
          message = `Merge ${record.branch}`,
        } = operation;
        try {
          const { mergedSha, alreadyMerged } = await git.integrate({
            ...integrationOf(record, id),
            headSha,
            baseSha: ontoSha,
            message,
            author: authorOf(actor),
          });
          const state = alreadyMerged ? 'integrated' : 'pushing';
          await change(deps, record, { state, operation: { ...operation, mergedSha } });
          return { state };
        } catch (error) {
          if (!isRefusal(error, 'merge-conflict', 'outside')) {
            throw error;
          }
          const message = `The branch conflicts with ${record.base.branch}; nothing was pushed. Rebase it first.`;
          const refused = gitRefusal('WORKTREE_MERGE_CONFLICT', message, { record, error });
          const entry = { code: error.code, headSha, baseSha: ontoSha };
          return refuse(deps, refused, { record, operation, state: 'ready', entry });
        }
      }),

    /** Makes the merge commit the base, without force. One that is there already is success. */
    pushMerge: (input: StepInput): Promise<StepResult> =>
      step(deps, { ...input, expected: 'pushing' }, async (record, operation, git) => {
        const { id, mergedSha = '', ontoSha = record.base.sha } = operation;
        try {
          await git.pushIntegration({
            repositoryPath: record.repositoryPath,
            mergedSha,
            baseBranch: record.base.branch,
            expectedBaseSha: ontoSha,
            ...remoteOf(record),
          });
          await change(deps, record, { state: 'integrated', recoverable: null });
          return { state: 'integrated' };
        } catch (error) {
          if (!isRefusal(error, 'push-rejected', 'checked-out')) {
            throw error;
          }
          await git.removeIntegration({ ...integrationOf(record, id), landed: false });
          const [code, message] =
            error.code === 'checked-out'
              ? ['WORKTREE_BASE_CHECKED_OUT', `Nothing was merged: ${error.message}`]
              : ['WORKTREE_BASE_MOVED', 'The base has moved in the meantime; nothing was pushed. Merge again.'];
          const entry = { code: error.code, baseSha: ontoSha, mergedSha };
          return refuse(deps, gitRefusal(code, message, { record, error }), {
            record,
            operation,
            state: 'ready',
            entry,
          });
        }
      }),

    /** Removes the integration worktree, and records the merge. */
    finishMerge: (input: StepInput): Promise<StepResult> =>
      step(deps, { ...input, expected: 'integrated' }, async (record, operation, git) => {
        const { id, headSha, ontoSha, mergedSha } = operation;
        await git.removeIntegration({ ...integrationOf(record, id), landed: true });
        const entry = compact({ headSha, baseSha: ontoSha, mergedSha });
        await settle(deps, record, { operation, state: 'ready', entry });
        return { state: 'ready' };
      }),
  };

  function integrationOf(record: WorktreeRecord, id: string) {
    return {
      repositoryPath: record.repositoryPath,
      integrationPath: join(deps.integrationDir, record._id),
      insideDir: deps.integrationDir,
      id,
    };
  }
}
