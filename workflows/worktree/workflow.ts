import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  patched,
  setCurrentDetails,
  setHandler,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import type { Beginning } from '../../activities/worktree/begin/beginning';
import type { PlanInput, Unfinished } from '../../activities/worktree/plan';
import type { WorktreeStepActivities } from '../../activities/worktree/steps';
import type { Refusal } from '../../contracts/refusal';
import type { WorktreeRequest } from '../../contracts/runs/worktrees/request';
import type { WorktreeInspection, WorktreeState } from '../../contracts/runs/worktrees/worktree';
import { requireProof, verified } from '../unproven';
import {
  type AskedFor,
  operateUpdate,
  type RunningOperation,
  worktreeBusy,
  type WorktreeInput,
  type WorktreeOutcome,
} from './messages';
import { beginOn, createOn, planning, records, stepsOn, viewOn } from './proxies';

/** The next step of a worktree in each state; a state without a step is one at rest. */
const stepOf: Partial<Record<WorktreeState, keyof WorktreeStepActivities>> = {
  preparing: 'makeWorktree',
  rebasing: 'rebaseWorktree',
  committing: 'commitWorktree',
  merging: 'integrateBranch',
  pushing: 'pushMerge',
  integrated: 'finishMerge',
  resolving: 'resolveConflict',
  continuing: 'continueStopped',
  aborting: 'abortStopped',
  cleanup: 'removeWorktree',
};

const hostAway = 'HOST_UNAVAILABLE';

/**
 * One operation on the worktree of a task. It is recorded in the manifest before git changes anything; then each step changes
 * git and records it. Every step inspects git first, so that it does not matter where an earlier try was killed, and an
 * interrupted operation is finished before another one begins.
 */
export async function worktree(input: WorktreeInput): Promise<WorktreeOutcome> {
  const messages = new WorktreeMessages(input);
  // An operator's "cancel" is heeded until git is touched; an operation that has begun is brought to its end.
  CancellationScope.current().cancelRequested.catch(() => {
    messages.cancelled = true;
  });
  return CancellationScope.nonCancellable(async () => {
    const outcome = await operate(input, messages);
    messages.outcome = outcome;
    await condition(allHandlersFinished);
    return outcome;
  });
}

async function operate(input: WorktreeInput, messages: WorktreeMessages): Promise<WorktreeOutcome> {
  const { taskId } = input;
  const planNow = () => planning.planWorktree({ taskId, ...messages.toPlan(), hostId: input.hostId });
  let plan = await planNow();
  if ('status' in plan) {
    return plan;
  }
  if (plan.unfinished) {
    const { hostId, unfinished } = plan;
    const earlier = await finish(input, hostId, unfinished);
    // A stuck operation blocks every other one; a conflict or the like has put the worktree at rest.
    if (
      earlier &&
      'status' in earlier &&
      (earlier.code === 'WORKTREE_INTERRUPTED' || messages.asked?.request.kind === unfinished.kind)
    ) {
      return earlier;
    }
    await messages.settled();
    if (!messages.asked) {
      return { status: 'done' };
    }
    plan = await planNow();
    if ('status' in plan) {
      return plan;
    }
  }
  await messages.settled();
  const { asked } = messages;
  if (!asked) {
    return { status: 'done' };
  }
  // What came in after the plan was made is planned now.
  if (messages.plannedFor !== asked && patched('plan-what-came-in')) {
    plan = await planNow();
    if ('status' in plan) {
      return plan;
    }
  }
  const { hostId, target, proof } = plan;

  // Plans of earlier versions have none.
  const operationId = plan.operationId ?? `op_${uuid4().replaceAll('-', '').slice(0, 16)}`;
  const { request, actor } = asked;
  const beginning = { taskId, operationId, target, request, actor, proof };
  if (asked.request.kind === 'create' && patched('create-in-one-activity')) {
    return create(input, hostId, beginning);
  }
  const begun = await begin(input, hostId, beginning);
  if ('status' in begun) {
    return begun;
  }
  // Nothing is half done yet: the last point at which stopping costs nothing.
  if (messages.cancelled && begun.state in stepOf) {
    const outcome = await stepsOn(hostId, input.heartbeatTimeoutMs).giveUp({ taskId, operationId });
    if ('status' in outcome) {
      return outcome;
    }
  }
  const finished = await finish(input, hostId, { operationId, state: begun.state });
  if (finished && 'status' in finished) {
    return finished;
  }
  return finished ? { status: 'done', inspection: finished } : outcomeOf(taskId, hostId);
}

async function begin(
  { heartbeatTimeoutMs }: WorktreeInput,
  hostId: string,
  beginning: Beginning,
): Promise<{ state: WorktreeState } | Refusal> {
  try {
    return await beginOn(hostId, heartbeatTimeoutMs).beginWorktree(beginning);
  } catch (error) {
    return notBegun(beginning.taskId, hostId, error);
  }
}

/** Decides, records and makes a new worktree, which is one step less to wait for. */
async function create(
  { heartbeatTimeoutMs }: WorktreeInput,
  hostId: string,
  beginning: Beginning,
): Promise<WorktreeOutcome> {
  const { taskId, operationId } = beginning;
  try {
    const result = await createOn(hostId, heartbeatTimeoutMs).createWorktree(beginning);
    if ('status' in result) {
      return result;
    }
    const { inspection } = result;
    return inspection ? { status: 'done', inspection } : await outcomeOf(taskId, hostId);
  } catch (error) {
    const left = await planning.planWorktree({ taskId, kind: null });
    const written = !('status' in left) && left.unfinished?.operationId === operationId;
    return written
      ? records.recordInterruption({ taskId, operationId, ...reasonOf(error) })
      : notBegun(taskId, hostId, error);
  }
}

/** A host that stays unavailable refuses the operation; nothing has been done. */
function notBegun(taskId: string, hostId: string, error: unknown): Refusal {
  const { code: reason, message } = reasonOf(error);
  const code = reason === hostAway ? hostAway : 'WORKTREE_GIT_FAILED';
  return { status: 'refused', code, message, details: { taskId, hostId, reason } };
}

/** Runs an operation to its end, from whatever state; returns its failure, or the worktree as the last step inspected it. */
async function finish(
  { taskId, heartbeatTimeoutMs }: WorktreeInput,
  hostId: string,
  { operationId, state: from }: Pick<Unfinished, 'operationId' | 'state'>,
): Promise<Refusal | WorktreeInspection | undefined> {
  const steps = stepsOn(hostId, heartbeatTimeoutMs);
  let seen: WorktreeInspection | undefined;
  for (let state = from, name = stepOf[state]; name; name = stepOf[state]) {
    setCurrentDetails(`The worktree of ${taskId} is **${state}**.`);
    try {
      const result = await steps[name]({ taskId, operationId });
      if ('status' in result) {
        return result;
      }
      state = result.state;
      seen = result.inspection;
    } catch (error) {
      return records.recordInterruption({ taskId, operationId, ...reasonOf(error) });
    }
  }
  return seen;
}

/** The outcome for the caller; a host that does not respond now has still done the operation. */
async function outcomeOf(taskId: string, hostId: string): Promise<WorktreeOutcome> {
  try {
    return { status: 'done', inspection: await viewOn(hostId).inspect({ taskId }) };
  } catch {
    return { status: 'done' };
  }
}

/** Why an activity failed for good. */
function reasonOf(error: unknown): { code: string; message: string } {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure) {
    return { code: cause.type ?? 'failed', message: cause.message };
  }
  return { code: hostAway, message: 'The host of the worktree did not answer.' };
}

/** The requests received so far; the handlers are set before the first await. */
class WorktreeMessages {
  asked: AskedFor | null;
  /** What the last plan was made for. */
  plannedFor: AskedFor | null = null;
  private acceptedAtMs = workflowInfo().startTime.getTime();
  private verifying = 0;
  outcome: WorktreeOutcome | undefined;
  cancelled = false;

  constructor({ taskId, request, actor, operationId, proof }: WorktreeInput) {
    this.asked = request && { request, actor, ...(operationId === undefined ? {} : { operationId }), proof };
    setHandler(
      operateUpdate,
      async (asked) => {
        if (this.asked === null && patched('proven-operation')) {
          await this.verify(taskId, asked);
        }
        this.asked ??= asked;
        // Every waiting caller gets the outcome, also when it was cancelled meanwhile.
        await CancellationScope.nonCancellable(() => condition(() => this.outcome !== undefined));
        return this.outcome ?? { status: 'done' };
      },
      { validator: (asked: AskedFor) => this.joinOrRefuse(asked) },
    );
  }

  /** The request to plan now, with its proof. */
  toPlan(): Pick<PlanInput, 'kind' | 'asked' | 'acceptedAtMs'> {
    const { asked, acceptedAtMs } = this;
    this.plannedFor = asked;
    return asked ? { kind: asked.request.kind, asked, acceptedAtMs } : { kind: null };
  }

  /** Waits until it is decided whether the request is to be done. */
  async settled(): Promise<void> {
    if (this.verifying > 0) {
      await condition(() => this.verifying === 0);
    }
  }

  private async verify(taskId: string, asked: AskedFor): Promise<void> {
    const acceptedAtMs = Date.now();
    this.verifying += 1;
    try {
      await CancellationScope.nonCancellable(() => verified(planning.verifyOperation({ taskId, asked, acceptedAtMs })));
      if (this.asked === null) {
        this.acceptedAtMs = acceptedAtMs;
      }
      this.asked ??= asked;
    } finally {
      this.verifying -= 1;
    }
  }

  private joinOrRefuse(asked: AskedFor): void {
    requireProof(asked);
    const { request } = asked;
    if (this.asked === null || joins(this.asked.request, request)) {
      return;
    }
    const running: RunningOperation = { kind: this.asked.request.kind, actor: this.asked.actor };
    throw ApplicationFailure.create({
      type: worktreeBusy,
      message: `Another operation runs on this worktree: ${running.kind}, begun by ${running.actor}.`,
      nonRetryable: true,
      details: [running],
    });
  }
}

/** Creating twice gives the same worktree, whatever the options; everything else has to be the same. */
const joins = (running: WorktreeRequest, requested: WorktreeRequest): boolean =>
  running.kind === requested.kind &&
  (running.kind === 'create' || JSON.stringify(running) === JSON.stringify(requested));
