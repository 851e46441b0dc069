import { refusal } from '../../domain/refusal';
import { compact } from '../../platform/json/compact';
import { temporalOperator } from '../../workflows/operator';
import { commitStep } from './commit-step';
import { conflictSteps, keepStopped } from './conflict-steps';
import type { WorktreeHostDependencies } from './dependencies';
import { isRefusal } from './git-failure';
import { inspect } from './inspection';
import { mergeSteps } from './merge-steps';
import { enclosingDir, placeOf, rebasedBase, settle } from './record';
import { gitRefusal, lost, refuse, step, type StepInput, type StepResult } from './step';

/** What each step of an operation does: git first, then the record of it. Every one of them can be repeated. */
export function createWorktreeStepActivities(deps: WorktreeHostDependencies) {
  return {
    ...mergeSteps(deps),
    ...commitStep(deps),
    ...conflictSteps(deps),

    /** Makes the branch and the worktree that the manifest describes. */
    makeWorktree: (input: StepInput): Promise<StepResult> =>
      step(deps, { ...input, expected: 'preparing' }, async (record, operation, git) => {
        try {
          const worktree = await git.ensureWorktree(placeOf(record));
          const entry = { headSha: worktree.headSha, baseSha: record.base.sha };
          const [ready, evidence] = await Promise.all([
            settle(deps, record, { operation, state: 'ready', entry, fields: { identity: worktree.identity } }),
            // Only read, without the token, which is over when the operation is.
            deps.git.inspectNew(placeOf(record), worktree),
          ]);
          return { state: 'ready', ...(evidence ? { inspection: await inspect(deps, ready, evidence) } : {}) };
        } catch (error) {
          if (
            !isRefusal(error, 'conflict', 'unknown-ref', 'not-a-repository', 'worktree-replaced', 'repository-diverted')
          ) {
            throw error;
          }
          const { code, message } = error;
          const recoverable = { code, message, path: record.path, at: deps.now().toISOString() };
          const refused = gitRefusal('WORKTREE_NOT_CREATED', `The worktree could not be created: ${message}`, {
            record,
            error,
          });
          const entry = { code, reason: message };
          return refuse(deps, refused, { record, operation, state: 'failed', entry, fields: { recoverable } });
        }
      }),

    /** Rebases the branch; after a conflict it is exactly where it was. */
    rebaseWorktree: (input: StepInput): Promise<StepResult> =>
      step(deps, { ...input, expected: 'rebasing' }, async (record, operation, git) => {
        const { ontoSha = record.base.sha, fetchedAt = null } = operation;
        try {
          const { id, keepConflict = false } = operation;
          const rebased = await git.rebaseOnto({ ...placeOf(record), ontoSha, id, keepConflict });
          const { headSha, conflicts } = rebased;
          if (conflicts) {
            return await keepStopped(deps, { record, operation }, { headSha, ontoSha, fetchedAt });
          }
          const base = rebasedBase(record, { ontoSha, fetchedAt });
          await settle(deps, record, {
            operation,
            state: 'ready',
            entry: { headSha, baseSha: ontoSha },
            fields: { base },
          });
          return { state: 'ready' };
        } catch (error) {
          if (isRefusal(error, 'worktree-replaced')) {
            return lost(deps, { record, operation }, error);
          }
          if (!isRefusal(error, 'merge-conflict', 'dirty', 'mismatch', 'stale', 'conflict', 'repository-diverted')) {
            throw error;
          }
          const [code, message] =
            error.code === 'merge-conflict'
              ? [
                  'WORKTREE_REBASE_CONFLICT',
                  `The branch conflicts with ${ontoSha} and was not moved. To resolve it, rebase with {"onConflict": "keep"}.`,
                ]
              : ['WORKTREE_NOT_REBASED', `The branch was not rebased: ${error.message}`];
          const entry = { code: error.code, baseSha: ontoSha };
          return refuse(deps, gitRefusal(code, message, { record, error }), {
            record,
            operation,
            state: 'ready',
            entry,
          });
        }
      }),

    /** Removes the worktree and its branch; what force gives up is stored under a reference first. */
    removeWorktree: (input: StepInput): Promise<StepResult> =>
      step(deps, { ...input, expected: 'cleanup' }, async (record, operation, git) => {
        const { id, force = false, headSha = record.base.sha } = operation;
        const insideDir = enclosingDir(record, deps.worktreeDir);
        try {
          const { preserved: preserved, movedAside } = await git.removeWorktree({
            ...placeOf(record),
            id,
            insideDir,
            headSha,
            force,
          });
          const entry = { headSha, ...compact({ keptRef: preserved?.ref }) };
          const allocation = `removed:${record._id}`;
          await settle(deps, record, { operation, state: 'removed', entry, fields: { allocation, conflict: null } });
          deps.log.info(
            { taskId: record._id, actor: operation.actor, reason: operation.reason, kept: preserved, movedAside },
            'worktree removed',
          );
          return { state: 'removed' };
        } catch (error) {
          if (isRefusal(error, 'worktree-replaced')) {
            return lost(deps, { record, operation }, error);
          }
          if (!isRefusal(error, 'outside', 'mismatch', 'stale', 'dirty', 'unmerged', 'worktree-locked')) {
            throw error;
          }
          const refused = gitRefusal('WORKTREE_NOT_REMOVABLE', `The worktree was not removed: ${error.message}`, {
            record,
            error,
          });
          const entry = { code: error.code };
          return refuse(deps, refused, { record, operation, state: operation.from ?? 'ready', entry });
        }
      }),

    /** Ends an operation that an operator cancelled where nothing is half done: as if it had not been requested. */
    giveUp: (input: StepInput): Promise<StepResult> =>
      step(deps, input, async (record, operation) => {
        const entry = { code: 'CANCELLED' };
        const details = { kind: operation.kind, begunBy: operation.actor };
        await deps.audit.record({ action: 'worktree.give-up', actor: temporalOperator, resource: record._id, details });
        const refused = refusal('WORKTREE_CANCELLED', 'The operation was cancelled before it changed anything.', {
          taskId: record._id,
        });
        if (record.state !== 'preparing') {
          return refuse(deps, refused, { record, operation, state: operation.from ?? 'ready', entry });
        }
        const message = 'The creation was cancelled.';
        const recoverable = { code: 'CANCELLED', message, path: record.path, at: deps.now().toISOString() };
        return refuse(deps, refused, { record, operation, state: 'failed', entry, fields: { recoverable } });
      }),
  };
}

export type WorktreeStepActivities = ReturnType<typeof createWorktreeStepActivities>;
