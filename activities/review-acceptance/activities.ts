import { createHash } from 'node:crypto';
import type { Refusal } from '../../contracts/refusal';
import type { ReviewDecision, TaskReview } from '../../contracts/tasks/review';
import type { Task } from '../../contracts/tasks/task';
import { refusal, RefusedError } from '../../domain/refusal';
import { openReviewOf } from '../../domain/review/open-review';
import { statusEffects } from '../../domain/status-effects';
import { type MessageProofs, startProofMs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { Board, BoardTask } from '../../stores/board-files/types';
import type { CompletionGate } from '../../stores/board-files/wrappers/completion-gate';
import type { Stores } from '../../stores/open-stores';
import { operateMessage, reviewAcceptanceMessage, type Signed } from '../../workflows/message-proofs';
import type { AcceptedReview, ReviewOutcome } from '../../workflows/review-acceptance/messages';
import type { AskedFor } from '../../workflows/worktree/messages';

export interface ReviewAcceptanceDependencies extends Pick<
  Stores,
  'activeRuns' | 'attempts' | 'reviews' | 'worktrees'
> {
  board: Pick<Board, 'get' | 'update'>;
  gate: Pick<CompletionGate, 'check'>;
  audit: Pick<Stores['audit'], 'record'>;
  proofs: ProofVerifier;
  messageProofs: Pick<MessageProofs, 'sign'>;
  now(): Date;
}

/** An acceptance that has begun: the operation that delivers the result, signed; absent when there is nothing to deliver. */
export interface Acceptance {
  status: 'accepting';
  merge?: AskedFor;
}

/** Which acceptance is finished or returned. */
interface Decision {
  decisionId: string;
  taskId: string;
  attemptId: string;
}

/** Who decided, where the task no longer shows it. */
const unknownActor = 'system:review';

export function createReviewAcceptanceActivities(deps: ReviewAcceptanceDependencies) {
  return {
    /**
     * Closes the review against other decisions and launches, if the task may be done: nothing is merged for one that may not.
     * An acceptance that was lost in the middle is taken over, since only one execution per attempt runs.
     */
    async beginAcceptance({ proof, ...accepted }: AcceptedReview & Signed): Promise<Acceptance | ReviewOutcome> {
      await deps.proofs.require(reviewAcceptanceMessage(accepted), proof);
      const earlier = await deps.reviews.get(accepted.decisionId);
      if (earlier) {
        return outcomeOf(earlier);
      }
      return refusing(async () => {
        const { taskId, attemptId } = accepted;
        const { task, location } = await mustGet(taskId);
        if (isAcceptedBy(task.review, accepted)) {
          return finish(accepted);
        }
        openReviewOf(task, { location, attemptId });
        await deps.gate.check(task, location);
        const merge = await mergeOf(accepted);
        await close(accepted);
        return { status: 'accepting' as const, ...compact({ merge }) };
      });
    },

    /** Completes the task; what refuses that opens the review again. */
    finishAcceptance: (decision: Decision): Promise<ReviewOutcome> =>
      refusing(
        () => finish(decision),
        (problem) => reopen(decision, problem),
      ),

    /** Opens the review again, with the reason; the decision is in the log. */
    returnReview: ({ problem, ...decision }: Decision & { problem: Refusal }): Promise<Refusal> =>
      reopen(decision, problem),
  };

  async function mustGet(taskId: string): Promise<BoardTask> {
    const found = await deps.board.get(taskId);
    if (!found) {
      throw new RefusedError(refusal('NOT_FOUND', `No task has the id ${taskId}.`, { taskId }));
    }
    return found;
  }

  /** Shows the acceptance on the task, under its lock, while no run has it: a launch that takes it later is refused. */
  async function close(accepted: AcceptedReview): Promise<void> {
    const { taskId, attemptId, decisionId, actor, delivery, summary } = accepted;
    const decidedAt = deps.now().toISOString();
    const change = (task: Task, location: BoardTask['location']): Partial<Task> => {
      const { state: _state, problem: _problem, ...open } = openReviewOf(task, { location, attemptId });
      return isDecided(task.review, accepted)
        ? {}
        : {
            review: {
              ...open,
              ...compact({ summary }),
              state: 'accepting',
              decisionId,
              decidedBy: actor,
              decidedAt,
              delivery,
            },
          };
    };
    await deps.board.update(taskId, change, { actor });
    const holder = await deps.activeRuns.holder(taskId);
    if (holder === attemptId) {
      throw new Error(`The run ${attemptId} is ending; its task is released in a moment.`);
    }
    if (holder !== undefined) {
      const problem = refusal('RUN_ACTIVE', `The run ${holder} has the task; wait for its end, or stop it first.`, {
        taskId,
        attemptId: holder,
      });
      throw new RefusedError(await reopen(accepted, problem));
    }
  }

  /** The merge of the attempt's worktree, under an id of this decision; `undefined` when the attempt had none. */
  async function mergeOf(accepted: AcceptedReview): Promise<AskedFor | undefined> {
    const { taskId, attemptId, decisionId, actor, delivery, expectedHead, anyBranch } = accepted;
    const workspace = (await deps.attempts.get(attemptId))?.taskEnvelope?.workspace;
    if (delivery === 'none' || !workspace) {
      return undefined;
    }
    const worktree = await deps.worktrees.get(taskId);
    if (!worktree || worktree.state === 'removed' || worktree.state === 'failed') {
      const message =
        `The worktree of the task is ${worktree?.state ?? 'gone'}: nothing of it can be merged. ` +
        'Accept with {"delivery": "none"} to complete the task without a merge.';
      throw new RefusedError(
        refusal('REVIEW_WITHOUT_WORKTREE', message, { taskId, worktree: worktree?.state ?? null }),
      );
    }
    const request = { kind: 'merge' as const, commit: true, ...compact({ expectedHead, anyBranch }) };
    const operation = { request, actor, operationId: operationIdOf(decisionId) };
    return { ...operation, proof: deps.messageProofs.sign(operateMessage(taskId, operation), startProofMs) };
  }

  async function finish(decision: Decision): Promise<ReviewOutcome> {
    const { taskId, attemptId, decisionId } = decision;
    const { review: shown } = (await mustGet(taskId)).task;
    const change = (task: Task): Partial<Task> => {
      if (isAcceptedBy(task.review, decision)) {
        return {};
      }
      if (!isDecided(task.review, decision)) {
        const message = 'Another decision was made in the meantime; read the review again.';
        throw new RefusedError(refusal('REVIEW_CLOSED', message, { taskId, attemptId, review: task.review }));
      }
      const review: TaskReview = { ...task.review, state: 'accepted', decision: 'approved' };
      return { status: 'done', ...statusEffects('done', task), review };
    };
    const { review = {} } = await deps.board.update(taskId, change, { actor: shown?.decidedBy ?? unknownActor });
    const mergedSha = await mergedBy(taskId, decisionId);
    const { summary, delivery } = review;
    const recorded = await record(decision, review, {
      outcome: 'accepted',
      ...compact({ summary, delivery, mergedSha }),
    });
    return outcomeOf(recorded);
  }

  async function reopen(decision: Decision, problem: Refusal): Promise<Refusal> {
    const { taskId } = decision;
    const { code, message } = problem;
    let decided: TaskReview | undefined;
    const change = ({ review }: Task): Partial<Task> => {
      if (!isDecided(review, decision)) {
        return {};
      }
      decided = review;
      const { attemptId, requestedAt } = review ?? {};
      const at = deps.now().toISOString();
      return { review: { state: 'pending', ...compact({ attemptId, requestedAt }), problem: { code, message, at } } };
    };
    try {
      await deps.board.update(taskId, change, { actor: unknownActor });
    } catch (error) {
      // A task that is gone or unreadable has no review to open; the log has the decision.
      if (!(error instanceof AppError) || error.status === 503) {
        throw error;
      }
    }
    await record(decision, decided, { outcome: 'returned', problem: { code, message } });
    return problem;
  }

  /** Writes the decision into the logs, once. */
  async function record(
    { decisionId, taskId, attemptId }: Decision,
    { decidedBy = unknownActor, decidedAt = deps.now().toISOString() }: TaskReview = {},
    fields: Pick<ReviewDecision, 'outcome'> & Partial<ReviewDecision>,
  ): Promise<ReviewDecision> {
    const decision = { id: decisionId, taskId, attemptId, by: decidedBy, at: decidedAt, ...fields };
    const recorded = await deps.reviews.record(decision);
    const { outcome, problem, delivery, mergedSha } = recorded;
    await deps.audit.record({
      action: `review.${outcome}`,
      actor: recorded.by,
      resource: taskId,
      details: { attemptId, decisionId, ...compact({ delivery, mergedSha, code: problem?.code }) },
      once: `review/${decisionId}`,
    });
    return recorded;
  }

  async function mergedBy(taskId: string, decisionId: string): Promise<string | undefined> {
    const operationId = operationIdOf(decisionId);
    const worktree = await deps.worktrees.get(taskId);
    return worktree?.history.find((entry) => entry.operationId === operationId && entry.result === 'done')?.mergedSha;
  }
}

export type ReviewAcceptanceActivities = ReturnType<typeof createReviewAcceptanceActivities>;

/** The id of the merge of a decision, however often it is requested. */
const operationIdOf = (decisionId: string): string =>
  `op_${createHash('sha256').update(decisionId).digest('hex').slice(0, 16)}`;

const isDecided = (review: TaskReview | undefined, { decisionId }: Pick<Decision, 'decisionId'>): boolean =>
  review?.state === 'accepting' && review.decisionId === decisionId;

const isAcceptedBy = (review: TaskReview | undefined, { decisionId }: Pick<Decision, 'decisionId'>): boolean =>
  review?.state === 'accepted' && review.decisionId === decisionId;

/** How a decision ended that is in the log: its response was lost. */
function outcomeOf({ id, outcome, problem, taskId, attemptId }: ReviewDecision): ReviewOutcome {
  if (outcome !== 'returned') {
    return { status: 'accepted', decisionId: id };
  }
  const { code = 'REVIEW_RETURNED', message = 'The acceptance came to nothing.' } = problem ?? {};
  return refusal(code, message, { taskId, attemptId });
}

/** The result of `work`, or what refuses it as a value; a store that does not respond is tried again. */
async function refusing<T>(
  work: () => Promise<T>,
  onRefusal: (problem: Refusal) => Promise<Refusal> = (problem) => Promise.resolve(problem),
): Promise<T | Refusal> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RefusedError) {
      return onRefusal(error.refusal);
    }
    if (!(error instanceof AppError) || error.status === 503) {
      throw error;
    }
    const { code, message, details } = error;
    // The detail names what a person has to do, where the code is the one of every invalid request.
    return onRefusal(refusal(typeof details.code === 'string' ? details.code : code, message, details));
  }
}
