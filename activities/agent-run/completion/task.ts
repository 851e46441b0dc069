import type { CompletionResult } from '../../../contracts/runs/completion';
import { maxComments } from '../../../contracts/tasks/comment';
import type { Task } from '../../../contracts/tasks/task';
import { awaitedSteps, causeOf, taskStatusAfter } from '../../../domain/completion';
import { pendingReview, reviewAfterStart } from '../../../domain/review/state';
import { statusEffects } from '../../../domain/status-effects';
import { AppError } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import type { Log } from '../../../platform/log/log';
import { cut } from '../../../platform/text/cut';
import type { Board } from '../../../stores/board-files/board';
import { isCeremonyRequired } from '../../../stores/board-files/wrappers/completion-gate';
import { isGateRefusal } from '../../../stores/board-files/wrappers/transition-refusal';
import { isRuleRefusal } from '../../../stores/governance/require-allowed';
import type { TraceStore } from '../../../stores/governance/trace-store';
import type { ActiveRunStore } from '../../../stores/runs/admission/active-run-store';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';

interface TaskDependencies {
  board: Pick<Board, 'get' | 'update'>;
  activeRuns: Pick<ActiveRunStore, 'holder'>;
  log: Log;
  now(): Date;
}

/** Shows on the task that the attempt runs, unless it shows that or its end already. */
export function applyStart(deps: TaskDependencies, record: AttemptRecord): Promise<void> {
  return apply(deps, record, (task) => {
    if (task.attempt?.id === record._id) {
      return undefined;
    }
    return {
      ...(isSetMeanwhile(record, task)
        ? {}
        : { status: 'in-progress', ...statusEffects('in-progress', task), blockedReason: undefined }),
      attempt: { id: record._id, agent: record.agent, status: 'running', started: deps.now().toISOString() },
      ...reviewAfterStart(task.review, record, deps.now()),
    };
  });
}

/** Whether the task was set to done or blocked since the attempt was admitted: the run leaves that alone. */
export const isSetMeanwhile = ({ taskStatus }: Pick<AttemptRecord, 'taskStatus'>, { status }: Task): boolean =>
  taskStatus !== undefined && status !== taskStatus && (status === 'done' || status === 'blocked');

/** Whether the status of the task is still the one that the run set, or read if it never set one. */
const isUnchanged = ({ _id, taskStatus }: AttemptRecord, { attempt, status }: Task): boolean =>
  attempt?.id === _id ? status === 'in-progress' : taskStatus === undefined || status === taskStatus;

/** Comments on how the run ended, on a task whose status another actor has set meanwhile. */
function noteOn(task: Task, record: AttemptRecord, { status, summary, completedAt }: CompletionResult): Partial<Task> {
  const comments = task.comments ?? [];
  if (comments.length >= maxComments) {
    return {};
  }
  const text = `The run ${record._id} ended as ${status}. The task stays ${task.status}, as it was set meanwhile. ${summary}`;
  const id = record._id.replace(/^attempt_/, 'comment_');
  const note = {
    id,
    author: `agent:${record.agent}`,
    text: cut(text.trim(), 2_000),
    timestamp: completedAt,
    revision: 1,
  };
  return { comments: [...comments, note] };
}

/**
 * Puts the result on the task, exactly once: a task that shows this completion already is not changed. One that would be done
 * without its ceremonies or against the rules, or whose required verification steps the run left out, is blocked; one that
 * needs a review waits for it. A status that another actor has set since the run took the task stays, with a comment; a launch
 * that never came to its agent changes nothing.
 */
export async function applyCompletion(
  deps: TaskDependencies & { traces: Pick<TraceStore, 'record'> },
  record: AttemptRecord,
  {
    completion,
    actualCost,
    isReviewed = () => false,
  }: { completion: CompletionResult; actualCost: number; isReviewed?: (task: Task) => boolean },
): Promise<void> {
  let awaited: AwaitedSteps = [];
  const outcome = (blockedBy?: AppError) => (task: Task) => {
    const steps = awaitedSteps(completion, task);
    const isReported = task.attempt?.completionDigest === completion.digest;
    awaited = (isReported ? task.status === 'blocked' : isUnchanged(record, task)) ? (steps ?? []) : [];
    if (isReported) {
      return undefined;
    }
    if (task.attempt?.id !== record._id && completion.harness.ended === 'not-dispatched') {
      return undefined;
    }
    const reason = blockedBy ? prerequisite(blockedBy.message) : unverifiedReason(steps ?? []);
    const verified = steps?.length === 0 ? 'done' : taskStatusAfter(completion.status);
    const waits = !reason && verified === 'done' && isReviewed(task);
    const status = reason ? 'blocked' : waits ? 'in-progress' : verified;
    const changed = !isUnchanged(record, task);
    return {
      // For a run whose start could not be shown.
      ...reviewAfterStart(task.review, record, new Date(completion.completedAt)),
      ...(changed
        ? status === task.status
          ? {}
          : noteOn(task, record, completion)
        : {
            status,
            ...statusEffects(status, task),
            ...(reason ? { blockedReason: reason } : {}),
            ...(waits ? { review: pendingReview(record._id, completion.completedAt) } : {}),
          }),
      ...(actualCost > 0 ? { actualCost } : {}),
      attempt: {
        ...(task.attempt?.id === record._id ? task.attempt : {}),
        id: record._id,
        agent: record.agent,
        status: completion.status === 'success' ? 'complete' : 'failed',
        ...compact({ started: record.startedAt }),
        ended: completion.completedAt,
        result: completion.status,
        summary: cut(completion.summary, 2_000),
        ...compact({ cause: causeOf(completion) }),
        completionDigest: completion.digest,
      },
    } satisfies Partial<Task>;
  };
  try {
    await apply(deps, record, outcome());
  } catch (error) {
    if (!isRefusedCompletion(error)) {
      throw error;
    }
    await apply(deps, record, outcome(error));
  }
  if (awaited.length > 0) {
    await traceUnverified(deps.traces, record, awaited);
  }
}

/** Whether the task may not be done: its ceremonies are missing, the rules forbid it, or a gate does not let it pass. */
const isRefusedCompletion = (error: unknown): error is AppError =>
  isCeremonyRequired(error) || isRuleRefusal(error) || isGateRefusal(error);

type AwaitedSteps = NonNullable<ReturnType<typeof awaitedSteps>>;

const unverifiedReason = (steps: AwaitedSteps): Task['blockedReason'] | undefined =>
  steps.length === 0
    ? undefined
    : prerequisite(
        `The run did not report required verification steps: ${steps.map(({ gateId, description }) => `${description} (${gateId})`).join('; ')}.`,
      );

/** Records, once for a run, which steps prevent its task from being `done`. */
async function traceUnverified(
  traces: Pick<TraceStore, 'record'>,
  { _id, taskId, agent }: AttemptRecord,
  steps: AwaitedSteps,
): Promise<void> {
  const ids = steps.map(({ gateId }) => gateId).join(', ');
  await traces.record({
    kind: 'workflow-gate',
    outcome: 'blocked',
    title: `Completion of ${taskId}: blocked`,
    summary: `The run ${_id} did not report required verification steps: ${ids}.`,
    remediation: `Check these steps, or start a run that reports them as passed: ${ids}.`,
    subject: { taskId, agentId: agent, actionType: 'task.complete' },
    evaluatedRules: steps.map(({ gateId, description }) => ({
      id: gateId,
      label: description,
      type: 'verification-step',
      status: 'matched',
      outcome: 'blocked',
      message: `${gateId} was not reported as passed.`,
    })),
    dedupeKey: `verification\n${_id}`,
  });
}

/** Why a task is blocked whose run has succeeded. */
const prerequisite = (message: string): NonNullable<Task['blockedReason']> => ({
  category: 'prerequisite',
  note: cut(message, 1_000),
});

/**
 * Changes the task of an attempt under its lock, while it is the attempt's. A worker that was asleep meanwhile changes nothing of
 * a later attempt: its own no longer has the task, or the task no longer shows what it did when it had. Clocks are not compared,
 * because hosts have different ones. A task that is gone, moved or unreadable prevents no end: the result is in the attempt, and
 * the reason is logged.
 *
 * @throws AppError 400 when the task would be done without its ceremonies or what a gate requires
 */
async function apply(
  { board, activeRuns, log }: TaskDependencies,
  record: AttemptRecord,
  change: (task: Task) => Partial<Task> | undefined,
): Promise<void> {
  try {
    const shown = (await board.get(record.taskId))?.task.attempt?.id;
    if ((await activeRuns.holder(record.taskId)) !== record._id) {
      return;
    }
    const isOurs = ({ attempt }: Task): boolean => attempt?.id === shown || attempt?.id === record._id;
    // A change without effect is no version of the task.
    const changeOurs = (task: Task): Partial<Task> => (isOurs(task) ? change(task) : undefined) ?? {};
    await board.update(record.taskId, changeOurs, { actor: `agent:${record.agent}`, gates: 'completion' });
  } catch (error) {
    if (isRefusedCompletion(error)) {
      throw error;
    }
    if (!(error instanceof AppError) || error.status === 503) {
      throw error;
    }
    log.warn(
      { taskId: record.taskId, attemptId: record._id, code: error.code },
      `task update refused: ${error.message}`,
    );
  }
}
