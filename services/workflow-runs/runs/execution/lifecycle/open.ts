import { CancellationScope, setHandler, workflowInfo } from '@temporalio/workflow';
import { hasChange } from '../../changes';
import type { TreeBudget } from '../../run';
import type { SetupState } from '../../stages/setup';
import { Continuation } from '../continuation';
import type { Cursor } from '../cursor';
import { handleMessages, type RunControl } from '../handlers';
import { lookAtChild, type RunInput } from '../messages';
import { oneAtATime } from '../one-at-a-time';
import { RunProgress } from '../progress';
import type { Walk } from '../walk';
import { Walkers } from '../walkers';
import { type LocalActivities, localActivities, pauseChildRuns, steerChildRuns } from './proxies';

/** Ends of child runs that are noted at a time. */
const maxReported = 1_000;

/** One execution of a run: what it began with, and where it is. */
export interface Execution {
  input: RunInput;
  /** When the first execution of the run began. */
  startedAt: Date;
  activities: LocalActivities;
  /** Events in the histories of the run, of earlier executions too. */
  eventsSoFar: () => number;
  control: RunControl;
  progress: RunProgress;
  cursor: Cursor;
  setupState: SetupState;
  /** Whether the hooks of the start of the run have run. */
  started: true | undefined;
  /** What the run does until its end. */
  scope: CancellationScope;
  /** Hooks of a run that has failed. */
  ending: CancellationScope;
  walkers: Walkers;
  continuation: Continuation;
  /** What the walk through the graph works with. */
  run: Walk;
  /** Verifies the proof of the input. */
  verify: ReturnType<typeof handleMessages>;
}

/** Opens an execution where the last one has stopped, or at the start of the graph, and takes messages from now on. */
export function openExecution(input: RunInput): Execution {
  const { runId, graph, state, maxEvents, hooks } = input;
  const budgets = budgetsOf(input);
  const { firstExecutionRunId: firstExecutionId } = workflowInfo();
  const activities = hasChange('serial-local-activities') ? oneAtATime(localActivities) : localActivities;
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
  const control = openControl(state);
  const scope = new CancellationScope();
  const ending = new CancellationScope();
  const verify = handleMessages({
    ...{ runId, control, progress, activities },
    scope: {
      cancel: () => {
        scope.cancel();
        ending.cancel();
      },
    },
    children: {
      pause: (paused) => pauseChildRuns({ runId, paused }),
      steer: (guidance) => steerChildRuns({ runId, guidance }),
    },
  });
  const reported = collectReports();
  const walkers = new Walkers();
  const continuation = new Continuation(maxEvents);
  const run: Walk = {
    ...{ runId, goal: graph.goal, graph, progress, continuation, walkers, hooks },
    answers: control.answers,
    deliveries: control.deliveries,
    isPaused: () => control.paused,
    values: { all: () => progress.context, set: (values) => progress.setValues(values) },
    tree: {
      budgets,
      reported,
      read: (request) => activities.readChildRun(request),
      usage: () => activities.readTreeUsage({ runId, budgets: budgets.map(({ run_id }) => run_id) }),
    },
    traversals: traversalsOf(input),
    workspace: state?.workspace ?? {},
    board: { ...state?.board, launching: false },
  };
  return {
    ...{ input, activities, eventsSoFar, control, progress, scope, ending, walkers, continuation, run, verify },
    startedAt: state ? new Date(state.startedAt) : new Date(),
    cursor: state?.cursor ?? { at: graph.start },
    setupState: state?.setup ?? { at: 0 },
    started: state?.started,
  };
}

const openControl = (state: RunInput['state']): RunControl => ({
  paused: state?.paused ?? false,
  cancelled: false,
  timedOut: false,
  ended: false,
  suspended: false,
  verifying: 0,
  answers: new Map(state?.answers.map((answer) => [answer.questionId, answer])),
  deliveries: new Map(state?.deliveries?.map((delivery) => [delivery.stageId, delivery])),
  acceptedProofs: [...(state?.acceptedProofs ?? [])],
});

/** Collects the ids of child runs that report their end. */
function collectReports(): Set<string> {
  const reported = new Set<string>();
  setHandler(lookAtChild, (childId) => {
    // Only what a stage waits for is read, and forgotten: more are not collected.
    if (reported.size < maxReported) {
      reported.add(childId);
    }
  });
  return reported;
}

const traversalsOf = ({ graph, state }: RunInput): Walk['traversals'] =>
  new Map(
    state?.traversals.flatMap(([index, times]) => {
      const edge = graph.edges[index];
      return edge ? [[edge, times] as const] : [];
    }),
  );

/** The budgets that a run shares: its own with its child runs, and those of the runs above it. */
function budgetsOf({ runId, graph: { nodes, budget }, tree }: RunInput): TreeBudget[] {
  const { tokens, cost } = budget ?? {};
  const hasChildren = Object.values(nodes).some(({ child }) => child !== undefined);
  const isShared = hasChildren && (tokens !== undefined || cost !== undefined);
  const own = { run_id: runId, ...(tokens !== undefined && { tokens }), ...(cost !== undefined && { cost }) };
  return [...(isShared ? [own] : []), ...(tree?.budgets ?? [])];
}
