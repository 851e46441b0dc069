import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ApplicationFailure } from '@temporalio/common';
import type { Refusal } from '../../contracts/refusal';
import type { EditorOpened, WorktreeInspection } from '../../contracts/runs/worktrees/worktree';
import { refusal } from '../../domain/refusal';
import { asOperator } from '../../platform/processes/operator-umask';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import { GitError } from '../../providers/git/git-error';
import { verifyDirectory } from '../../providers/git/worktrees/verify-worktree';
import { openEditorMessage, type Signed } from '../../workflows/message-proofs';
import type { WorktreeHostDependencies } from './dependencies';
import { inspect } from './inspection';
import { noWorktree } from './refusals';
import { replacedRefusal } from './replaced';

export interface WorktreeViewDependencies extends WorktreeHostDependencies {
  /** Program and arguments; `{path}` stands for the worktree. */
  editorCommand: readonly string[] | undefined;
  proofs: ProofVerifier;
}

export function createWorktreeViewActivities(deps: WorktreeViewDependencies) {
  return {
    /** Inspects a worktree now. */
    async inspect({ taskId }: { taskId: string }): Promise<WorktreeInspection> {
      const record = await deps.worktrees.get(taskId);
      if (!record) {
        throw ApplicationFailure.nonRetryable(`${taskId} has no manifest.`, 'WORKTREE_NOT_FOUND');
      }
      return inspect(deps, record);
    },

    /** Starts the configured editor, without a shell; it continues when this worker ends. */
    async openEditor({ taskId, proof }: { taskId: string } & Signed): Promise<EditorOpened | Refusal> {
      await deps.proofs.require(openEditorMessage({ taskId }), proof);
      const record = await deps.worktrees.get(taskId);
      if (record?.state !== 'ready') {
        return noWorktree(taskId);
      }
      const { path } = record;
      const command = deps.editorCommand?.map((argument) => argument.replaceAll('{path}', path)) ?? [];
      const [program, ...args] = command;
      if (program === undefined) {
        const message = 'No editor is configured; set BOARD_EDITOR_COMMAND, for example to ["code", "{path}"].';
        return refusal('EDITOR_NOT_CONFIGURED', message, { taskId, path });
      }
      try {
        // The editor opens whatever is at the path: nothing of it is opened unless it is the worktree.
        verifyDirectory(path, record.identity ?? undefined);
        const editor = asOperator(() => spawn(program, args, { cwd: path, detached: true, stdio: 'ignore' }));
        await once(editor, 'spawn');
        editor.unref();
        return { taskId, path, hostId: deps.hostId, command, pid: editor.pid ?? 0 };
      } catch (error) {
        if (error instanceof GitError) {
          return replacedRefusal(record, error);
        }
        const reason = error instanceof Error ? error.message : String(error);
        return refusal('EDITOR_FAILED', `The editor could not be started: ${reason}`, { taskId, command });
      }
    },
  };
}

export type WorktreeViewActivities = ReturnType<typeof createWorktreeViewActivities>;
