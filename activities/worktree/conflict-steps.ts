import type { WorktreeConflict, WorktreeOperation } from '../../contracts/runs/worktrees/worktree';
import { refusal } from '../../domain/refusal';
import type { Continued } from '../../providers/git/conflicts/continue-rebase';
import type { Git } from '../../providers/git/git';
import { GitError, type GitErrorCode } from '../../providers/git/git-error';
import type { WorktreeRecord } from '../../stores/runs/workspaces/worktree-store';
import type { WorktreeHostDependencies } from './dependencies';
import { isRefusal } from './git-failure';
import { authorOf, placeOf, rebasedBase, settle } from './record';
import { conflictNotFound, unresolved } from './refusals';
import { gitRefusal, lost, refuse, step, type StepInput, type StepResult } from './step';

interface At {
  record: WorktreeRecord;
  operation: WorktreeOperation;
}

/** Reasons of git that leave the conflict as it was. */
const refusals: GitErrorCode[] = ['stale', 'conflict', 'mismatch', 'unknown-ref', 'repository-diverted'];

/** Resolving conflicts in a worktree, and continuing or aborting what has stopped at them. */
export function conflictSteps(deps: WorktreeHostDependencies) {
  return {
    /** Makes a file in conflict what was decided. */
    resolveConflict: (input: StepInput): Promise<StepResult> =>
      conflictStep(input, 'resolving', async ({ record, operation }, git) => {
        const { resolution } = operation;
        if (!resolution) {
          throw incomplete(operation);
        }
        const { path, target, content } = resolution;
        const text = content === undefined ? undefined : await deps.resolutions.get(record._id, content);
        if (content !== undefined && text === undefined) {
          const details = { taskId: record._id, path };
          const refused = refusal('CONFLICT_TEXT_EXPIRED', 'The text is not stored any more; send it again.', details);
          return refuse(deps, refused, { record, operation, state: 'ready', entry: { code: 'expired' } });
        }
        await git.conflicts.resolve({ ...placeOf(record), path, target, text });
        await settle(deps, record, { operation, state: 'ready', entry: {} });
        return { state: 'ready' };
      }),

    /** Commits what was resolved and continues, to the end or to the next conflict. */
    continueStopped: (input: StepInput): Promise<StepResult> =>
      conflictStep(input, 'continuing', async (at, git) => {
        const { record, operation } = at;
        const continued = await continueIn(git, at);
        const { ended, headSha, reason } = continued;
        if (ended === 'stopped') {
          await settle(deps, record, { operation, state: 'ready', entry: { headSha, code: 'merge-conflict' } });
          return { state: 'ready' };
        }
        if (ended === 'undone') {
          const message = `The branch is where it was before the rebase: ${reason ?? 'git could not continue it.'}`;
          const refused = refusal('WORKTREE_NOT_CONTINUED', message, { taskId: record._id, headSha });
          const entry = { code: 'failed', headSha };
          return refuse(deps, refused, { record, operation, state: 'ready', entry, fields: { conflict: null } });
        }
        const { conflict } = record;
        const base = conflict ? { base: rebasedBase(record, conflict) } : {};
        const entry = { headSha, ...(conflict ? { baseSha: conflict.ontoSha } : {}) };
        await settle(deps, record, { operation, state: 'ready', entry, fields: { conflict: null, ...base } });
        return { state: 'ready' };
      }),

    /** Brings the worktree back to how it was, and stores the files as they are. */
    abortStopped: (input: StepInput): Promise<StepResult> =>
      conflictStep(input, 'aborting', async ({ record, operation }, git) => {
        const { id, stopped } = operation;
        if (!stopped) {
          throw incomplete(operation);
        }
        const { headSha, ref } = await git.conflicts.abort({ ...placeOf(record), id, stopped });
        const entry = { headSha, keptRef: ref };
        await settle(deps, record, { operation, state: 'ready', entry, fields: { conflict: null } });
        return { state: 'ready' };
      }),
  };

  function conflictStep(
    input: StepInput,
    expected: 'resolving' | 'continuing' | 'aborting',
    work: (at: At, git: Git) => Promise<StepResult>,
  ): Promise<StepResult> {
    return step(deps, { ...input, expected }, async (record, operation, git) => {
      const at = { record, operation };
      try {
        return await work(at, git);
      } catch (error) {
        if (isRefusal(error, 'worktree-replaced')) {
          return lost(deps, at, error);
        }
        if (!(error instanceof GitError)) {
          throw error;
        }
        return notDone(at, error);
      }
    });
  }

  function notDone(at: At, error: GitError): Promise<StepResult> {
    const { record, operation } = at;
    const { _id: taskId } = record;
    const ending = { ...at, state: 'ready' as const, entry: { code: error.code } };
    if (error.code === 'merge-conflict') {
      return refuse(deps, unresolved(taskId, error.paths), ending);
    }
    if (error.code === 'unknown-path') {
      const path = operation.resolution?.path ?? '';
      return refuse(deps, conflictNotFound(taskId, { path, message: error.message }), ending);
    }
    // What git could not write now it cannot write later either: the operation is refused, and the conflict is as it was.
    const isFinal = operation.kind === 'resolve' && error.code === 'failed';
    if (!isFinal && !refusals.includes(error.code)) {
      throw error;
    }
    const code = operation.kind === 'resolve' ? 'CONFLICT_NOT_RESOLVED' : 'WORKTREE_NOT_CONTINUED';
    return refuse(
      deps,
      gitRefusal(code, `The conflict was left as it is: ${error.message}`, { record, error }),
      ending,
    );
  }
}

function continueIn(git: Git, { record, operation }: At): Promise<Continued> {
  const { id, actor, stopped, message } = operation;
  if (!stopped) {
    throw incomplete(operation);
  }
  return stopped.kind === 'rebase'
    ? git.conflicts.continueRebase({ ...placeOf(record), id, stopped, message })
    : git.conflicts.continueMerge({
        ...placeOf(record),
        id,
        stopped,
        message,
        author: authorOf(actor),
      });
}

const incomplete = ({ kind, id }: WorktreeOperation): Error =>
  new Error(`The operation ${id} has no ${kind} recorded.`);

/** Ends a rebase at a conflict that is kept in the worktree, where it waits to be resolved. */
export async function keepStopped(
  deps: WorktreeHostDependencies,
  { record, operation }: At,
  { headSha, ontoSha, fetchedAt }: Pick<WorktreeConflict, 'headSha' | 'ontoSha' | 'fetchedAt'>,
): Promise<StepResult> {
  const { id: operationId, actor } = operation;
  const conflict = { operationId, actor, since: deps.now().toISOString(), headSha, ontoSha, fetchedAt };
  const entry = { code: 'merge-conflict', headSha, baseSha: ontoSha };
  await settle(deps, record, { operation, state: 'ready', entry, fields: { conflict } });
  return { state: 'ready' };
}
