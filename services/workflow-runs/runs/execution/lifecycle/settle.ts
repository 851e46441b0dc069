import { allHandlersFinished, condition, workflowInfo } from '@temporalio/workflow';
import type { RunState } from '../continuation';
import type { RunInput } from '../messages';
import type { Walk } from '../walk';
import type { Execution } from './open';

/** Messages are remembered for this long after their proofs expire, in milliseconds: clocks differ. */
const proofToleranceMs = 300_000;

/** Ends what is under way, so that nothing is lost with this execution; returns the input of the next one. */
export async function settle(execution: Execution): Promise<RunInput> {
  const { control, progress, activities } = execution;
  const { runId, graph, maxEvents, tree, setup, hooks } = execution.input;
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
    state: currentState(execution),
  };
  const { context, guidance } = progress;
  const texts = { context, guidance, ...(progress.lists.size > 0 && { lists: Object.fromEntries(progress.lists) }) };
  const { firstExecutionRunId } = workflowInfo();
  return { ...next, proof: await activities.prepareContinuation(next, texts, firstExecutionRunId) };
}

function currentState({ input, run, control, progress, walkers, ...execution }: Execution): RunState {
  const { graph, setup, hooks } = input;
  return {
    startedAt: execution.startedAt.toISOString(),
    events: execution.eventsSoFar(),
    paused: control.paused,
    waiting: walkers.waiting,
    cursor: execution.cursor,
    ...(run.workspace.queue !== undefined && { workspace: run.workspace }),
    ...(setup && { setup: execution.setupState }),
    ...(hooks && execution.started && { started: execution.started }),
    ...boardState(run.board),
    progress: progress.state(),
    traversals: graph.edges.flatMap((edge, index) => {
      const times = run.traversals.get(edge);
      return times === undefined ? [] : [[index, times] as [number, number]];
    }),
    answers: [...control.answers.values()],
    ...(control.deliveries.size > 0 && { deliveries: [...control.deliveries.values()] }),
    acceptedProofs: control.acceptedProofs.filter(
      ({ expiresAt }) => Date.parse(expiresAt) > Date.now() - proofToleranceMs,
    ),
  };
}

/** What the next execution has to know of the board. */
const boardState = ({ root, catalog }: Walk['board']): Pick<RunState, 'board'> =>
  root === undefined && catalog === undefined
    ? {}
    : { board: { ...(root !== undefined && { root }), ...(catalog !== undefined && { catalog }) } };
