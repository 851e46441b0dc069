import { ApplicationFailure } from '@temporalio/common';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { EditorOpened, WorktreeInspection } from '../../contracts/worktree';
import type { LaunchRefusal } from '../../contracts/launch';
import { asOperator } from '../../platform/processes/operator-umask';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import { refusal } from '../../runs/refusal';
import { openEditorMessage, type Signed } from '../../workflows/message-proofs';
import type { WorktreeHostDependencies } from './dependencies';
import { GitError } from '../../providers/git/git-error';
import { verifyDirectory } from '../../providers/git/verify-worktree';
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
    /** What is to be seen of a worktree now. */
    async inspect({ taskId }: { taskId: string }): Promise<WorktreeInspection> {
      const record = await deps.worktrees.get(taskId);
      if (!record) throw ApplicationFailure.nonRetryable(`${taskId} has no manifest.`, 'WORKTREE_NOT_FOUND');
      return inspect(deps, record);
    },

    /** Starts the configured editor, without a shell; it goes on when this worker ends. */
    async openEditor({ taskId, proof }: { taskId: string } & Signed): Promise<EditorOpened | LaunchRefusal> {
      await deps.proofs.require(openEditorMessage({ taskId }), proof);
      const record = await deps.worktrees.get(taskId);
      if (record?.state !== 'ready') return noWorktree(taskId);
      const { path } = record;
      const command = deps.editorCommand?.map((argument) => argument.replaceAll('{path}', path)) ?? [];
      const [program, ...args] = command;
      if (program === undefined) {
        const message = 'No editor is configured; set BOARD_EDITOR_COMMAND, for example to ["code", "{path}"].';
        return refusal('EDITOR_NOT_CONFIGURED', 409, message, { taskId, path });
      }
      try {
        // The editor takes up what is there: nothing of it is opened unless it is the worktree.
        verifyDirectory(path, record.identity ?? undefined);
        const editor = asOperator(() => spawn(program, args, { cwd: path, detached: true, stdio: 'ignore' }));
        await once(editor, 'spawn');
        editor.unref();
        return { taskId, path, hostId: deps.hostId, command, pid: editor.pid ?? 0 };
      } catch (error) {
        if (error instanceof GitError) return replacedRefusal(record, error);
        const reason = error instanceof Error ? error.message : String(error);
        return refusal('EDITOR_FAILED', 409, `The editor could not be started: ${reason}`, { taskId, command });
      }
    },
  };
}

export type WorktreeViewActivities = ReturnType<typeof createWorktreeViewActivities>;
