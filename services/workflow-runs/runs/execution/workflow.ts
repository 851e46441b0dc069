import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { hasChange } from '../changes';
import type { ChildRunActivities } from '../children/activities';
import type { RunStatus, TreeBudget } from '../run';
import { assertHooks, runHooks } from '../stages/hooks';
import { runSetup, type SetupState } from '../stages/setup';
import type { RunActivities } from './activities';
import { Continuation, type RunState, SuspendedError } from './continuation';
import { type Cursor, stagesUnderWay } from './cursor';
import { type ChildMessenger, handleMessages, type RunControl } from './handlers';
import { lookAgain, lookAtChild, type RunInput } from './messages';
import { oneAtATime } from './one-at-a-time';
import { RunProgress } from './progress';
import { reasonOf, RunFailedError } from './run-failed';
import { perform } from './stages';
import { type Walk, walk } from './walk';
import { Walkers } from './walkers';

type LocalActivities = Omit<RunActivities, 'runPrompt' | 'deleteContinuation'> &
  Pick<ChildRunActivities, 'reportToParent' | 'readTreeUsage' | 'readChildRun'>;

/** Store work and a signal: short, repeatable, and not worth a round trip by way of the queue. */
const localActivities = proxyLocalActivities<LocalActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

const { deleteContinuation } = proxyActivities<Pick<RunActivities, 'deleteContinuation'>>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
  summary: 'delete the continuation',
});

const { pauseChildRuns, cancelChildRuns, steerChildRuns } = proxyActivities<
  Pick<ChildRunActivities, 'pauseChildRuns' | 'cancelChildRuns' | 'steerChildRuns'>
>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '15 seconds',
  // What is not reached in this time is cancelled when runs are reconciled.
  scheduleToCloseTimeout: '10 minutes',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

const nothing = (): undefined => undefined;

/** Ends of child runs that are noted at a time. */
const maxReported = 1_000;

/** Messages are remembered for this long after their proofs expire, in milliseconds: clocks differ. */
const proofToleranceMs = 300_000;

/**
 * Runs a graph from its start to an end. Everything callers read of it is written as it happens. When its history is long it
 * continues as new: what waits, waits again in the next execution.
 */
export async function workflowRun(input: RunInput): Promise<RunStatus> {
  const { runId, graph, state, maxEvents, tree, setup, hooks } = input;
  const budgets = budgetsOf(input);
  const { startTime, firstExecutionRunId: firstExecutionId } = workflowInfo();
  const activities = hasChange('serial-local-activities') ? oneAtATime(localActivities) : localActivities;
  const startedAt = state ? new Date(state.startedAt) : new Date();
  const eventsSoFar = (): number => (state?.events ?? 0) + workflowInfo().historyLength;
  const progress = new RunProgress(
    { runId, graph, budgets },
    {
      // What is written is written whole: a run that is cancelled meanwhile writes its end behind it.
      save: (update) => CancellationScope.nonCancellable(() => activities.saveRun({ ...update, task: eventsSoFar() })),
      load: (version) =>
        CancellationScope.nonCancellable(() => activities.loadContinuation({ runId, version, firstExecutionId })),
    },
    state?.progress,
  );
  const cursor: Cursor = state?.cursor ?? { at: graph.start };
  const traversals = new Map(
    state?.traversals.flatMap(([index, times]) => {
      const edge = graph.edges[index];
      return edge ? [[edge, times] as const] : [];
    }),
  );
  const control: RunControl = {
    paused: state?.paused ?? false,
    cancelled: false,
    timedOut: false,
    ended: false,
    suspended: false,
    verifying: 0,
    answers: new Map(state?.answers.map((answer) => [answer.questionId, answer])),
    deliveries: new Map(state?.deliveries?.map((delivery) => [delivery.stageId, delivery])),
    acceptedProofs: [...(state?.acceptedProofs ?? [])],
  };
  const scope = new CancellationScope();
  /** Of the hooks of a run that has failed. */
  const ending = new CancellationScope();
  const children: ChildMessenger = {
    pause: (paused) => pauseChildRuns({ runId, paused }),
    steer: (guidance) => steerChildRuns({ runId, guidance }),
  };
  const cancel = (): void => {
    scope.cancel();
    ending.cancel();
  };
  const verify = handleMessages({ runId, control, progress, scope: { cancel }, activities, children });
  const reported = new Set<string>();
  setHandler(lookAtChild, (childId) => {
    // Only what a stage waits for is read, and forgotten: more are not collected.
    if (reported.size < maxReported) {
      reported.add(childId);
    }
  });

  const walkers = new Walkers();
  const continuation = new Continuation(maxEvents);
  const workspace: Walk['workspace'] = state?.workspace ?? {};
  const setupState: SetupState = state?.setup ?? { at: 0 };
  const board: Walk['board'] = { ...state?.board, launching: false };
  const run: Walk = {
    runId,
    goal: graph.goal,
    graph,
    progress,
    answers: control.answers,
    deliveries: control.deliveries,
    isPaused: () => control.paused,
    values: { all: () => progress.context, set: (values) => progress.setValues(values) },
    tree: {
      budgets,
      reported,
      read: (input) => activities.readChildRun(input),
      usage: () => activities.readTreeUsage({ runId, budgets: budgets.map(({ run_id }) => run_id) }),
    },
    traversals,
    continuation,
    walkers,
    ...{ workspace, hooks, board },
  };
  let started = state?.started;
  const begin = async (): Promise<unknown> => {
    setCurrentDetails(`Running ${graph.name}.`);
    if (!state) {
      progress.change({ status: 'running', started_at: startedAt.toISOString() });
      if (input.vars) {
        progress.setValues(input.vars);
      }
      progress.inheritGuidance(input.guidance ?? []);
      progress.record(
        { RunStarted: { name: graph.name, ...(graph.goal !== undefined && { goal: graph.goal }) } },
        'run',
      );
    }
    return walkers.count(async () => {
      if (setup) {
        await runSetup(setup, setupState, { ...run, perform });
      }
      if (!started) {
        await assertHooks({ event: 'run_start' }, run);
        started = true;
      }
      await walk(cursor, run);
      await assertHooks({ event: 'run_complete' }, run);
    });
  };
  /** A run that waits does not count against the concurrency limit. */
  const reportWaiting = async (waiting: boolean): Promise<void> => {
    progress.change({ waiting });
    await progress.flush();
    if (waiting) {
      await activities.runEnded();
    }
  };
  /** Ends the run when its time is over. */
  const endInTime = async (untilMs: number): Promise<void> => {
    await sleep(Math.max(1, untilMs - Date.now()), { summary: 'time budget of the run' });
    control.timedOut = true;
    scope.cancel();
  };
  /** @returns why it came to no end, if it did not */
  const walkToEnd = async (): Promise<unknown> => {
    const walked = scope.run(begin).then(nothing, (error: unknown) => error);
    const watching = new CancellationScope();
    watching.run(() => walkers.watch(reportWaiting, state?.waiting)).catch(nothing);
    if (graph.budget?.timeMs !== undefined) {
      const untilMs = startedAt.getTime() + graph.budget.timeMs;
      watching.run(() => endInTime(untilMs)).catch(nothing);
    }
    const failure = await walked;
    watching.cancel();
    return failure;
  };
  /** Has nothing under way any more, so that nothing is lost with this execution; returns the input of the next one. */
  const settle = async (): Promise<RunInput> => {
    control.suspended = true;
    do {
      await progress.flush();
      await condition(allHandlersFinished);
    } while (!progress.isSaved || !allHandlersFinished());
    const next: RunInput = {
      ...{ runId, graph },
      ...(maxEvents !== undefined && { maxEvents }),
      ...(tree && { tree }),
      ...(setup && { setup }),
      ...(hooks && { hooks }),
      state: currentState(),
    };
    const { context, guidance } = progress;
    const texts = { context, guidance, ...(progress.lists.size > 0 && { lists: Object.fromEntries(progress.lists) }) };
    return { ...next, proof: await activities.prepareContinuation(next, texts, firstExecutionId) };
  };
  const currentState = (): RunState => ({
    startedAt: startedAt.toISOString(),
    events: eventsSoFar(),
    paused: control.paused,
    waiting: walkers.waiting,
    cursor,
    ...(workspace.queue !== undefined && { workspace }),
    ...(setup && { setup: setupState }),
    ...(hooks && started && { started }),
    ...boardState(board),
    progress: progress.state(),
    traversals: graph.edges.flatMap((edge, index) => {
      const times = traversals.get(edge);
      return times === undefined ? [] : [[index, times] as [number, number]];
    }),
    answers: [...control.answers.values()],
    ...(control.deliveries.size > 0 && { deliveries: [...control.deliveries.values()] }),
    acceptedProofs: control.acceptedProofs.filter(
      ({ expiresAt }) => Date.parse(expiresAt) > Date.now() - proofToleranceMs,
    ),
  });

  if (state) {
    await verify('continue', input, startTime.getTime());
    await progress.loaded;
  } else {
    await verify('start', input, startTime.getTime());
  }
  // A cancel that came with the start is known for one before anything begins.
  if (control.verifying > 0) {
    await condition(() => control.verifying === 0);
  }
  let failure = control.cancelled ? undefined : await walkToEnd();
  if (failure instanceof SuspendedError) {
    const next = await scope.run(settle).catch((error: unknown) => void (failure = error));
    if (next) {
      await continueAsNew<typeof workflowRun>(next);
    }
  }

  return CancellationScope.nonCancellable(async () => {
    if (progress.hasChildren) {
      await cancelChildRuns({ runId }).catch(nothing);
    }
    if (control.timedOut && !control.cancelled && isCancellation(failure)) {
      failure = new RunFailedError('The time that its budget allows is over.');
    }
    if (hooks && failure && !control.cancelled && !isCancellation(failure)) {
      const reason = reasonOf(failure);
      await ending.run(() => runHooks({ event: 'run_failed', failure: reason }, run)).catch(nothing);
    }
    const status = control.cancelled || isCancellation(failure) ? 'cancelled' : failure ? 'failed' : 'completed';
    const endedAt = new Date();
    const duration_ms = endedAt.getTime() - startedAt.getTime();
    const message = failure instanceof Error ? failure.message : 'It failed.';
    const error = status === 'failed' ? { error: { message } } : {};
    // Those that wait while the execution was about to continue.
    const underWay = [...(setupState.underWay ? [setupState.underWay.stage] : []), ...stagesUnderWay(cursor)];
    underWay.forEach((stage) => progress.endStage(stage, 'cancelled'));
    progress.withdrawAll();
    progress.change({ status, ended_at: endedAt.toISOString(), ...error });
    if (status === 'completed') {
      progress.record({ RunCompleted: { duration_ms } }, 'run');
    } else if (status === 'failed') {
      progress.record({ RunFailed: { duration_ms, error: message } }, 'run');
    } else {
      progress.record({ RunCancelled: { duration_ms } }, 'run');
    }
    await progress.flush();
    control.suspended = false;
    control.ended = true;
    setCurrentDetails(status === 'failed' ? `Failed: ${message}` : `The run is ${status}.`);
    await activities.runEnded();
    if (tree) {
      await activities.reportToParent({ runId });
    }
    // One that was about to continue may have stored its state as well.
    if (state || continuation.isDue) {
      await deleteContinuation({ runId });
    }
    await condition(allHandlersFinished);
    return status;
  });
}

/** What the next execution has to know of the board. */
const boardState = ({ root, catalog }: Walk['board']): Pick<RunState, 'board'> =>
  root === undefined && catalog === undefined
    ? {}
    : { board: { ...(root !== undefined && { root }), ...(catalog !== undefined && { catalog }) } };

/** The budgets that a run shares: its own with its child runs, and those of the runs above it. */
function budgetsOf({ runId, graph: { nodes, budget }, tree }: RunInput): TreeBudget[] {
  const { tokens, cost } = budget ?? {};
  const hasChildren = Object.values(nodes).some(({ child }) => child !== undefined);
  const isShared = hasChildren && (tokens !== undefined || cost !== undefined);
  const own = { run_id: runId, ...(tokens !== undefined && { tokens }), ...(cost !== undefined && { cost }) };
  return [...(isShared ? [own] : []), ...(tree?.budgets ?? [])];
}

/**
 * Starts queued runs while there is capacity, oldest first. It waits for a while when idle: Temporal does not
 * start the same workflow again within a second.
 */
export async function workflowRunDispatch(idleMs: number): Promise<void> {
  let looks = 1;
  setHandler(lookAgain, () => void (looks += 1));
  do {
    looks = 0;
    await localActivities.startQueued();
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof workflowRunDispatch>(idleMs);
    }
  } while (await condition(() => looks > 0, Math.max(1, idleMs)));
}
