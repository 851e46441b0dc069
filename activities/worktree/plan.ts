import { ApplicationFailure } from '@temporalio/common';
import type { LaunchRefusal } from '../../contracts/launch';
import type { Repository } from '../../contracts/repository';
import type { Task } from '../../contracts/task';
import { unsettledStates, type WorktreeOperationKind, type WorktreeState } from '../../contracts/worktree';
import { gitTargetOf } from '../../runs/contract';
import { startProofMs, type MessageProofs } from '../../platform/crypto/message-proof';
import { messageUnproven, type MessageProof } from '../../platform/crypto/message-proof-shape';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import { refusal } from '../../runs/refusal';
import { baseBranchRefusal } from '../../runs/workspace/base-branch';
import type { AttemptStore } from '../../stores/attempt-store';
import type { Board } from '../../stores/board-files/board';
import type { HostStore } from '../../stores/host-store';
import type { RepositoryStore } from '../../stores/repository-store';
import type { WorktreeStore } from '../../stores/worktree-store';
import { operateMessage, worktreePlanMessage } from '../../workflows/message-proofs';
import type { AskedFor } from '../../workflows/worktree/messages';
import { newOperationId } from '../../runs/worktree-operation-id';
import { noWorktree } from './refusals';

export interface WorktreePlanDependencies {
  board: Pick<Board, 'get'>;
  repositories: RepositoryStore;
  hosts: HostStore;
  worktrees: WorktreeStore;
  attempts: Pick<AttemptStore, 'get'>;
  proofs: ProofVerifier;
  messageProofs: Pick<MessageProofs, 'sign'>;
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
  /** What is to be done is known by this, however often it is asked for; absent when nothing is. */
  operationId?: string;
  /** That this is to be done, for the host that does it. */
  proof?: MessageProof;
}

export interface PlanInput {
  taskId: string;
  kind: WorktreeOperationKind | null;
  /** The host a new worktree is wanted on. */
  hostId?: string;
  /** What is to be done. Nothing is, besides finishing what was written down, when absent. */
  asked?: AskedFor;
  /** When that was accepted, in milliseconds. */
  acceptedAtMs?: number;
}

/** What a new worktree is of. */
export interface WorktreeTarget {
  repository: Repository;
  branch: string;
  baseBranch: string;
  /** Where the task says that a worktree without a manifest is. */
  legacyPath?: string;
}

interface VerifyInput {
  taskId: string;
  asked: AskedFor;
  acceptedAtMs?: number | undefined;
  /** The host a run wants its worktree on. */
  hostId?: string | undefined;
}

export function createWorktreePlanActivities(deps: WorktreePlanDependencies) {
  const { messageProofs } = deps;
  return {
    /**
     * Where an operation happens, and what has to be finished before it. An operation is what the API has signed, or the new
     * worktree of a run that goes on.
     */
    async planWorktree({ asked, acceptedAtMs, hostId, ...input }: PlanInput): Promise<WorktreePlan | LaunchRefusal> {
      if (!asked) return planOf(input);
      const byRun = asked.proof === undefined;
      try {
        await verify({ taskId: input.taskId, asked, acceptedAtMs, hostId });
      } catch (error) {
        if (!(error instanceof ApplicationFailure) || error.type !== messageUnproven) throw error;
        return refusal(messageUnproven, 409, error.message, { taskId: input.taskId });
      }
      // Only a run wants a host: what the API signs says nothing of one.
      const plan = await planOf({ ...input, ...(byRun && hostId !== undefined ? { hostId } : {}) });
      if ('status' in plan || plan.unfinished) return plan;
      const { request, actor } = asked;
      const operationId = (byRun ? undefined : asked.operationId) ?? newOperationId();
      const planned = worktreePlanMessage({ taskId: input.taskId, operationId, request, actor, target: plan.target });
      return { ...plan, operationId, proof: messageProofs.sign(planned, startProofMs) };
    },

    /** Refuses an operation that proves nothing, before the workflow that it is asked of takes it for its own. */
    verifyOperation: verify,

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

  async function planOf({
    taskId,
    kind,
    hostId,
  }: Pick<PlanInput, 'taskId' | 'kind' | 'hostId'>): Promise<WorktreePlan | LaunchRefusal> {
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
  }

  /** @throws ApplicationFailure `MESSAGE_UNPROVEN` */
  async function verify({ taskId, asked, acceptedAtMs, hostId }: VerifyInput): Promise<void> {
    if (asked.proof === undefined && (await isOfRun(taskId, asked, hostId))) return;
    await deps.proofs.require(operateMessage(taskId, asked), asked.proof, acceptedAtMs);
  }

  /** A run that goes on makes the worktree of its own task on its own host, if there is none, and nothing else. */
  async function isOfRun(taskId: string, { request, actor }: AskedFor, hostId?: string): Promise<boolean> {
    const attemptId = /^run:(.+)$/.exec(actor)?.[1];
    if (attemptId === undefined || JSON.stringify(request) !== '{"kind":"create"}') return false;
    const attempt = await deps.attempts.get(attemptId);
    const isHere = hostId === undefined || attempt?.hostId === hostId;
    return isHere && attempt?.taskId === taskId && attempt.state !== 'ended' && attempt.state !== 'refused';
  }

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
    return baseBranchRefusal(id, repository, target) ?? { hostId, unfinished: null, target };
  }
}

export type WorktreePlanActivities = ReturnType<typeof createWorktreePlanActivities>;
