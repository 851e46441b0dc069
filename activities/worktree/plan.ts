import type { LaunchRefusal } from '../../contracts/launch';
import type { Repository } from '../../contracts/repository';
import type { Task } from '../../contracts/task';
import { unsettledStates, type WorktreeOperationKind, type WorktreeState } from '../../contracts/worktree';
import { gitTargetOf } from '../../runs/contract';
import { refusal } from '../../runs/refusal';
import type { Board } from '../../stores/board-files/board';
import type { HostStore } from '../../stores/host-store';
import type { RepositoryStore } from '../../stores/repository-store';
import type { WorktreeStore } from '../../stores/worktree-store';
import { noWorktree } from './refusals';

export interface WorktreePlanDependencies {
  board: Pick<Board, 'get'>;
  repositories: RepositoryStore;
  hosts: HostStore;
  worktrees: WorktreeStore;
  now(): Date;
}

/** An operation that was written down and not finished. */
export interface Unfinished {
  operationId: string;
  kind: WorktreeOperationKind;
  state: WorktreeState;
}

export interface WorktreePlan {
  /** The host that holds the worktree, or will. */
  hostId: string;
  unfinished: Unfinished | null;
  /** What to make, when there is nothing yet. */
  target: WorktreeTarget | null;
}

/** What a new worktree is of. */
export interface WorktreeTarget {
  repository: Repository;
  branch: string;
  baseBranch: string;
  /** Where the task says that a worktree without a manifest is. */
  legacyPath?: string;
}

export function createWorktreePlanActivities(deps: WorktreePlanDependencies) {
  return {
    /** Where an operation happens, and what has to be finished before it. */
    async planWorktree({
      taskId,
      kind,
      hostId,
    }: {
      taskId: string;
      kind: WorktreeOperationKind | null;
      /** The host a new worktree is wanted on. */
      hostId?: string;
    }): Promise<WorktreePlan | LaunchRefusal> {
      const record = await deps.worktrees.get(taskId);
      if (record?.operation && unsettledStates.includes(record.state)) {
        const { id, kind: unfinished } = record.operation;
        return {
          hostId: record.hostId,
          unfinished: { operationId: id, kind: unfinished, state: record.state },
          target: null,
        };
      }
      const makes = kind === 'create' || kind === 'adopt';
      if (record && (record.state === 'ready' || !makes))
        return { hostId: record.hostId, unfinished: null, target: null };
      const found = await deps.board.get(taskId);
      if (!found) return refusal('NOT_FOUND', 404, `No task has the id ${taskId}.`, { taskId });
      if (!makes) return noWorktree(taskId, found.task.git?.worktreePath);
      return place(found.task, record && record.state !== 'removed' ? record.hostId : hostId);
    },

    /** Writes down why an operation stands still, so that people see it and anybody can take it up again. */
    async recordInterruption({
      taskId,
      operationId,
      code,
      message,
    }: {
      taskId: string;
      operationId: string;
      code: string;
      message: string;
    }): Promise<LaunchRefusal> {
      const at = deps.now().toISOString();
      const record = await deps.worktrees.get(taskId);
      const recoverable = { code, message: message.slice(0, 2000), path: record?.path ?? '', at };
      if (record?.operation?.id === operationId && !(await deps.worktrees.change(record, { recoverable }, at))) {
        throw new Error(`The manifest of ${taskId} changed meanwhile.`);
      }
      return refusal(
        'WORKTREE_INTERRUPTED',
        409,
        `The operation stands still: ${message} It goes on when it is asked for again.`,
        { taskId, state: record?.state, recoverable },
      );
    },
  };

  async function place(task: Task, wantedHostId: string | undefined): Promise<WorktreePlan | LaunchRefusal> {
    const { id, git } = task;
    if (git?.repo === undefined) {
      return refusal('WORKTREE_NO_REPOSITORY', 409, 'The task names no repository; set git.repo.', { taskId: id });
    }
    const repository = await deps.repositories.find(git.repo);
    if (!repository) {
      return refusal('REPOSITORY_UNKNOWN', 409, `No repository ${git.repo} is configured.`, { repository: git.repo });
    }
    const hostId = repository.hostId ?? wantedHostId ?? (await deps.hosts.anyLive());
    if (hostId === undefined) {
      return refusal('HOST_UNAVAILABLE', 409, 'No host with a worker is live; start one with npm run start:worker.');
    }
    const target: WorktreeTarget = {
      repository,
      ...gitTargetOf(task, repository),
      ...(git.worktreePath === undefined ? {} : { legacyPath: git.worktreePath }),
    };
    return { hostId, unfinished: null, target };
  }
}

export type WorktreePlanActivities = ReturnType<typeof createWorktreePlanActivities>;
