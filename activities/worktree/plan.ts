import { ApplicationFailure } from '@temporalio/common';
import type { Refusal } from '../../contracts/refusal';
import {
  unsettledStates,
  type WorktreeOperationKind,
  type WorktreeState,
} from '../../contracts/runs/worktrees/worktree';
import type { Repository } from '../../contracts/settings/repository';
import type { Task } from '../../contracts/tasks/task';
import { gitTargetOf } from '../../domain/contract';
import { refusal } from '../../domain/refusal';
import { baseBranchRefusal } from '../../domain/workspaces/base-branch';
import { newOperationId } from '../../domain/worktree-operation-id';
import { type MessageProofs, startProofMs } from '../../platform/crypto/message-proof';
import { type MessageProof, messageUnproven } from '../../platform/crypto/message-proof-shape';
import { compact } from '../../platform/json/compact';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import { cut } from '../../platform/text/cut';
import type { Board } from '../../stores/board-files/board';
import type { Stores } from '../../stores/open-stores';
import type { AttemptStore } from '../../stores/runs/attempt-store';
import { operateMessage, worktreePlanMessage } from '../../workflows/message-proofs';
import type { AskedFor } from '../../workflows/worktree/messages';
import { noWorktree } from './refusals';

export interface WorktreePlanDependencies extends Pick<Stores, 'repositories' | 'hosts' | 'worktrees'> {
  board: Pick<Board, 'get'>;
  attempts: Pick<AttemptStore, 'get'>;
  proofs: ProofVerifier;
  messageProofs: Pick<MessageProofs, 'sign'>;
  now(): Date;
}

/** An operation that was recorded and not finished. */
export interface Unfinished {
  operationId: string;
  kind: WorktreeOperationKind;
  state: WorktreeState;
}

export interface WorktreePlan {
  /** The host that has the worktree, or will. */
  hostId: string;
  unfinished: Unfinished | null;
  /** What to make, when there is nothing yet. */
  target: WorktreeTarget | null;
  /** The identity of the operation, however often it is requested; absent when there is none. */
  operationId?: string;
  /** That this is to be done, for the host that does it. */
  proof?: MessageProof;
}

export interface PlanInput {
  taskId: string;
  kind: WorktreeOperationKind | null;
  /** The host a new worktree is wanted on. */
  hostId?: string;
  /** The requested operation; absent when only a recorded one is to be finished. */
  asked?: AskedFor;
  /** When that was accepted, in milliseconds. */
  acceptedAtMs?: number;
}

/** What a new worktree is of. */
export interface WorktreeTarget {
  repository: Repository;
  branch: string;
  baseBranch: string;
  /** Where the task records that a worktree without a manifest is. */
  legacyPath?: string;
}

interface VerifyInput {
  taskId: string;
  asked: AskedFor;
  acceptedAtMs?: number | undefined;
  /** The host that a run requires for its worktree. */
  hostId?: string | undefined;
}

export function createWorktreePlanActivities(deps: WorktreePlanDependencies) {
  const { messageProofs } = deps;
  return {
    /**
     * The host of an operation, and what has to be finished before it. An operation is what the API has signed, or the new
     * worktree of an active run.
     */
    async planWorktree({ asked, acceptedAtMs, hostId, ...input }: PlanInput): Promise<WorktreePlan | Refusal> {
      if (!asked) {
        return planOf(input);
      }
      const byRun = asked.proof === undefined;
      try {
        await verify({ taskId: input.taskId, asked, acceptedAtMs, hostId });
      } catch (error) {
        if (!(error instanceof ApplicationFailure) || error.type !== messageUnproven) {
          throw error;
        }
        return refusal(messageUnproven, error.message, { taskId: input.taskId });
      }
      // Only a run chooses a host: what the API signs does not include one.
      const plan = await planOf({ ...input, ...(byRun && hostId !== undefined ? { hostId } : {}) });
      if ('status' in plan || plan.unfinished) {
        return plan;
      }
      const { request, actor } = asked;
      const operationId = (byRun ? undefined : asked.operationId) ?? newOperationId();
      const planned = worktreePlanMessage({ taskId: input.taskId, operationId, request, actor, target: plan.target });
      return { ...plan, operationId, proof: messageProofs.sign(planned, startProofMs) };
    },

    /** Refuses an operation without a valid proof, before its workflow accepts it. */
    verifyOperation: verify,

    /** Records why an operation is stuck, so that people see it and any caller can resume it. */
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
    }): Promise<Refusal> {
      const at = deps.now().toISOString();
      const record = await deps.worktrees.get(taskId);
      const recoverable = { code, message: cut(message, 2_000), path: record?.path ?? '', at };
      if (record?.operation?.id === operationId && !(await deps.worktrees.change(record, { recoverable }, at))) {
        throw new Error(`The manifest of ${taskId} changed in the meantime.`);
      }
      return refusal(
        'WORKTREE_INTERRUPTED',
        `The operation is blocked: ${message} It resumes when it is requested again.`,
        { taskId, state: record?.state, recoverable },
      );
    },
  };

  async function planOf({
    taskId,
    kind,
    hostId,
  }: Pick<PlanInput, 'taskId' | 'kind' | 'hostId'>): Promise<WorktreePlan | Refusal> {
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
    if (record && (record.state === 'ready' || !makes)) {
      return { hostId: record.hostId, unfinished: null, target: null };
    }
    const task = await deps.board.get(taskId);
    if (!task) {
      return refusal('NOT_FOUND', `No task has the id ${taskId}.`, { taskId });
    }
    if (!makes) {
      return noWorktree(taskId, task.task.git?.worktreePath);
    }
    return place(task.task, record && record.state !== 'removed' ? record.hostId : hostId);
  }

  /** @throws ApplicationFailure `MESSAGE_UNPROVEN` */
  async function verify({ taskId, asked, acceptedAtMs, hostId }: VerifyInput): Promise<void> {
    if (asked.proof === undefined && (await isOfRun(taskId, asked, hostId))) {
      return;
    }
    await deps.proofs.require(operateMessage(taskId, asked), asked.proof, acceptedAtMs);
  }

  /** An active run makes the worktree of its own task on its own host, if there is none, and nothing else. */
  async function isOfRun(taskId: string, { request, actor }: AskedFor, hostId?: string): Promise<boolean> {
    const attemptId = /^run:(.+)$/.exec(actor)?.[1];
    if (attemptId === undefined || JSON.stringify(request) !== '{"kind":"create"}') {
      return false;
    }
    const attempt = await deps.attempts.get(attemptId);
    const isHere = hostId === undefined || attempt?.hostId === hostId;
    return isHere && attempt?.taskId === taskId && attempt.state !== 'ended' && attempt.state !== 'refused';
  }

  async function place(task: Task, wantedHostId: string | undefined): Promise<WorktreePlan | Refusal> {
    const { id, git } = task;
    if (git?.repo === undefined) {
      return refusal('WORKTREE_NO_REPOSITORY', 'The task names no repository; set git.repo.', { taskId: id });
    }
    const repository = await deps.repositories.find(git.repo);
    if (!repository) {
      return refusal('REPOSITORY_UNKNOWN', `No repository ${git.repo} is configured.`, { repository: git.repo });
    }
    const hostId = repository.hostId ?? wantedHostId ?? (await deps.hosts.anyForLaunch());
    if (hostId === undefined) {
      return refusal('HOST_UNAVAILABLE', 'No host with a worker is live; start one with npm run start:worker.');
    }
    const target: WorktreeTarget = {
      repository,
      ...gitTargetOf(task, repository),
      ...compact({ legacyPath: git.worktreePath }),
    };
    return baseBranchRefusal(id, repository, target) ?? { hostId, unfinished: null, target };
  }
}

export type WorktreePlanActivities = ReturnType<typeof createWorktreePlanActivities>;
