import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { RunActivities } from './activities';
import {
  answerQuestion,
  cancelRun,
  lookAgain,
  notNow,
  pauseRun,
  steerRun,
  unpauseRun,
  type Answer,
  type RunInput,
} from './messages';
import { RunProgress } from './progress';
import type { RunStatus } from './run';
import { walk } from './walk';

/** Store work and a signal: short, repeatable, and not worth a round trip by way of the queue. */
const { saveRun, runEnded, startQueued } = proxyLocalActivities<
  Pick<RunActivities, 'saveRun' | 'runEnded' | 'startQueued'>
>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

const refused = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ type: notNow, message, nonRetryable: true });

const nothing = (): undefined => undefined;

/** Runs a graph from its start to an end. Everything callers read of it is written as it happens. */
export async function workflowRun({ runId, graph }: RunInput): Promise<RunStatus> {
  const progress = new RunProgress(runId, graph, saveRun);
  const answers = new Map<string, Answer>();
  const scope = new CancellationScope();
  const startedAt = new Date();
  const state = { paused: false, cancelled: false, ended: false };

  const begin = (): Promise<unknown> => {
    progress.change({ status: 'running', started_at: startedAt.toISOString() });
    progress.tell({ RunStarted: { name: graph.name, ...(graph.goal !== undefined && { goal: graph.goal }) } });
    setCurrentDetails(`Running ${graph.name}.`);
    return walk(graph.start, { runId, goal: graph.goal, graph, progress, answers, isPaused: () => state.paused });
  };
  const mustBe = (fits: boolean, message: string): void => {
    if (state.ended || state.cancelled || !fits) throw refused(message);
  };
  const pauseOrGoOn = async (pause: boolean): Promise<void> => {
    state.paused = pause;
    progress.change({ status: pause ? 'paused' : 'running' });
    progress.tell(pause ? { RunPaused: {} } : { RunUnpaused: {} });
    await progress.flush();
    // Somebody else may run while this one does not.
    if (pause) await runEnded();
  };
  setHandler(pauseRun, () => pauseOrGoOn(true), {
    validator: () => mustBe(progress.status === 'running' && !state.paused, 'Run is not pausable.'),
  });
  setHandler(unpauseRun, () => pauseOrGoOn(false), { validator: () => mustBe(state.paused, 'Run is not paused.') });
  setHandler(
    cancelRun,
    async () => {
      state.cancelled = true;
      // One that has not begun is not cancelled but never begun.
      if (progress.status !== 'starting') scope.cancel();
      await condition(() => state.ended);
    },
    { validator: () => mustBe(!state.paused, 'Run is not cancellable.') },
  );
  setHandler(answerQuestion, (answer: Answer) => void answers.set(answer.questionId, answer), {
    validator: ({ questionId }: Answer) =>
      mustBe(
        progress.questions.some(({ id }) => id === questionId) && !answers.has(questionId),
        'The question has been answered, or is not asked any more.',
      ),
  });
  setHandler(
    steerRun,
    async (guidance) => {
      progress.addGuidance(guidance);
      progress.tell({ Steered: { text: guidance.text.slice(0, 1_000) } });
      await progress.flush();
    },
    { validator: (_guidance) => mustBe(progress.status !== 'starting', 'The run cannot be steered now.') },
  );

  const failure = state.cancelled ? undefined : await scope.run(begin).then(nothing, (error: unknown) => error);

  return CancellationScope.nonCancellable(async () => {
    const status = state.cancelled || isCancellation(failure) ? 'cancelled' : failure ? 'failed' : 'completed';
    const endedAt = new Date();
    const duration_ms = endedAt.getTime() - startedAt.getTime();
    const message = failure instanceof Error ? failure.message : 'It failed.';
    const error = status === 'failed' ? { error: { message } } : {};
    progress.change({ status, ended_at: endedAt.toISOString(), questions: [], ...error });
    if (status === 'completed') progress.tell({ RunCompleted: { duration_ms } });
    else if (status === 'failed') progress.tell({ RunFailed: { duration_ms, error: message } });
    else progress.tell({ RunCancelled: { duration_ms } });
    await progress.flush();
    state.ended = true;
    setCurrentDetails(status === 'failed' ? `Failed: ${message}` : `The run is ${status}.`);
    await runEnded();
    await condition(allHandlersFinished);
    return status;
  });
}

/**
 * Starts queued runs while there is room, oldest first. It stays for a while when there is nothing to do: Temporal lets
 * nobody start the same workflow again within a second.
 */
export async function workflowRunDispatch(idleMs: number): Promise<void> {
  let looks = 1;
  setHandler(lookAgain, () => void (looks += 1));
  do {
    looks = 0;
    await startQueued();
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof workflowRunDispatch>(idleMs);
  } while (await condition(() => looks > 0, Math.max(1, idleMs)));
}
