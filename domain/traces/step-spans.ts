import type { AttemptState } from '../../contracts/runs/attempt';
import type { CompletionStatus } from '../../contracts/runs/completion';
import type { RunRecovery } from '../../contracts/runs/recovery';
import type { StepTimes, TraceSpan } from '../../contracts/runs/trace';
import type { WorktreeHistoryEntry } from '../../contracts/runs/worktrees/worktree';
import { compact } from '../../platform/json/compact';
import { cut } from '../../platform/text/cut';
import { type Begun, spanOf } from './span';

/** An attempt as far as its trace is made of it. */
export interface TracedAttempt {
  attemptId: string;
  taskId: string;
  state: AttemptState;
  agent: string;
  provider: string;
  retryNumber: number;
  parentAttemptId?: string | undefined;
  createdAt: string;
  startedAt?: string | undefined;
  endedAt?: string | undefined;
  completion?: { status: CompletionStatus; summary: string } | undefined;
  steps: StepTimes;
}

/** Records beside the attempt that say when something was done. */
export interface StepRecords {
  /** The turn of the attempt in the queue, when it had to wait. */
  queued?: { enqueuedAt: string; endedAt?: string | undefined } | undefined;
  worktree?: readonly Pick<WorktreeHistoryEntry, 'at' | 'kind' | 'operationId' | 'result'>[] | undefined;
  recovery?:
    Pick<RunRecovery, 'action' | 'state' | 'failureClass' | 'createdAt' | 'notBefore' | 'nextAttemptId'> | undefined;
}

/** The span that all others are within. */
export const rootSpanId = 'run';
/** The span of the agent at work. */
export const agentSpanId = 'agent';

type Outcome = [status: TraceSpan['status'], endedAt?: string | undefined];

/** The spans of the steps of an attempt, in the order in which they are done. */
export function stepSpans(attempt: TracedAttempt, records: StepRecords): TraceSpan[] {
  const { createdAt, endedAt, state, steps, completion } = attempt;
  const isOver = state === 'ended' || state === 'refused';
  const decided = steps.refused ?? steps.queued ?? steps.admitted ?? createdAt;
  const entered = records.queued?.enqueuedAt ?? steps.queued;
  const free = entered === undefined ? decided : records.queued?.endedAt;
  const launched = attempt.startedAt ?? steps.running;
  const spans: TraceSpan[] = [];

  /** What began when the step before ended; what has not begun has no span. */
  function add(
    begun: Omit<Begun, 'startedAt' | 'parentSpanId'>,
    from: string | undefined,
    until: string | undefined,
  ): void {
    if (from === undefined) {
      return;
    }
    const [status, end] = outcomeOf(until);
    spans.push(spanOf({ ...begun, parentSpanId: rootSpanId, startedAt: from }, status, end));
  }
  /** A step that has no end is the one at which the attempt is, or at which it ended. */
  const outcomeOf = (until: string | undefined): Outcome =>
    until !== undefined ? ['ok', until] : isOver || completion ? ['error', endedAt] : ['open'];

  const refused = state === 'refused' && steps.prepared === undefined;
  spans.push(
    spanOf(
      { spanId: 'launch', parentSpanId: rootSpanId, kind: 'launch', name: 'decide the launch', startedAt: createdAt },
      refused ? 'error' : 'ok',
      decided,
    ),
  );
  if (refused) {
    return [rootSpan(attempt), ...spans];
  }
  add({ spanId: 'queue', kind: 'queue', name: 'wait for capacity' }, entered, free);
  const made = records.worktree?.find(
    ({ at, kind }) =>
      (kind === 'create' || kind === 'adopt') && free !== undefined && at >= free && at <= (steps.prepared ?? at),
  );
  if (made && free !== undefined) {
    const attributes = { operation: made.kind, operationId: made.operationId };
    const status = made.result === 'done' ? 'ok' : 'error';
    spans.push(
      spanOf(
        {
          spanId: 'worktree',
          parentSpanId: rootSpanId,
          kind: 'worktree',
          name: 'make the worktree',
          startedAt: free,
          attributes,
        },
        status,
        made.at,
      ),
    );
  }
  add(
    { spanId: 'prepare', kind: 'prepare', name: 'compile the contract' },
    made?.at ?? free,
    steps.prepared ?? launched,
  );
  add({ spanId: 'dispatch', kind: 'dispatch', name: 'start the agent' }, steps.prepared, launched);
  add({ spanId: agentSpanId, kind: 'agent', name: attempt.agent }, launched, endedAt);
  if (endedAt !== undefined) {
    add({ spanId: 'completion', kind: 'completion', name: 'record the end' }, endedAt, steps.ended);
  }
  return [rootSpan(attempt), ...spans, ...recoverySpans(records)];
}

function rootSpan({ completion, ...attempt }: TracedAttempt): TraceSpan {
  const { attemptId, taskId, agent, provider, retryNumber, parentAttemptId, createdAt, endedAt, state } = attempt;
  const attributes = compact({
    ...{ attemptId, taskId, agent, provider, retryNumber, parentAttemptId },
    status: completion?.status,
    summary: completion && cut(completion.summary, 500),
  });
  const begun: Begun = {
    spanId: rootSpanId,
    parentSpanId: null,
    kind: 'run',
    name: `run of ${taskId}`,
    startedAt: createdAt,
    attributes,
  };
  if (state !== 'refused' && !completion) {
    return spanOf(begun, 'open');
  }
  return spanOf(begun, completion?.status === 'success' ? 'ok' : 'error', endedAt);
}

/** From the decision about what follows until it may be launched. */
function recoverySpans({ recovery }: StepRecords): TraceSpan[] {
  if (!recovery) {
    return [];
  }
  const { action, state, failureClass, nextAttemptId, createdAt, notBefore } = recovery;
  const attributes = compact({ action, state, failureClass, nextAttemptId });
  const waits = action === 'retry' || action === 'fallback';
  const begun: Begun = {
    spanId: 'recovery',
    parentSpanId: rootSpanId,
    kind: 'recovery',
    name: action,
    startedAt: createdAt,
    attributes,
  };
  return [spanOf(begun, state === 'scheduled' || state === 'launching' ? 'open' : 'ok', waits ? notBefore : createdAt)];
}
