import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
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

const { saveRun, runEnded, startQueued } = proxyActivities<Pick<RunActivities, 'saveRun' | 'runEnded' | 'startQueued'>>(
  {
    startToCloseTimeout: '30 seconds',
    retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
  },
);

const refused = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ type: notNow, message, nonRetryable: true });

/** Runs a graph from its start to an end. Everything callers read of it is written as it happens. */
export async function workflowRun({ runId, graph }: RunInput): Promise<RunStatus> {
  const progress = new RunProgress(runId, graph, saveRun);
  const answers = new Map<string, Answer>();
  const scope = new CancellationScope();
  const startedAt = new Date();
  let paused = false;
  let cancelled = false;
  let ended = false;

  const mustBe = (fits: boolean, message: string): void => {
    if (ended || cancelled || !fits) throw refused(message);
  };
  const pauseOrGoOn = async (pause: boolean): Promise<void> => {
    paused = pause;
    progress.change({ status: pause ? 'paused' : 'running' });
    progress.tell(pause ? { RunPaused: {} } : { RunUnpaused: {} });
    await progress.flush();
    // Somebody else may run while this one does not.
    if (pause) await runEnded();
  };
  setHandler(pauseRun, () => pauseOrGoOn(true), {
    validator: () => mustBe(progress.status === 'running' && !paused, 'Run is not pausable.'),
  });
  setHandler(unpauseRun, () => pauseOrGoOn(false), { validator: () => mustBe(paused, 'Run is not paused.') });
  setHandler(
    cancelRun,
    async () => {
      cancelled = true;
      scope.cancel();
      await condition(() => ended);
    },
    { validator: () => mustBe(!paused, 'Run is not cancellable.') },
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

  const failure = await scope
    .run(async () => {
      progress.change({ status: 'running', started_at: startedAt.toISOString() });
      progress.tell({ RunStarted: { name: graph.name, ...(graph.goal !== undefined && { goal: graph.goal }) } });
      setCurrentDetails(`Running ${graph.name}.`);
      const run = { runId, goal: graph.goal, graph, progress, answers, isPaused: () => paused };
      await walk(graph.start, run);
    })
    .then(
      () => undefined,
      (error: unknown) => error,
    );

  return CancellationScope.nonCancellable(async () => {
    const status = cancelled || isCancellation(failure) ? 'cancelled' : failure ? 'failed' : 'completed';
    const endedAt = new Date();
    const duration_ms = endedAt.getTime() - startedAt.getTime();
    const message = failure instanceof Error ? failure.message : 'It failed.';
    const error = status === 'failed' ? { error: { message } } : {};
    progress.change({ status, ended_at: endedAt.toISOString(), questions: [], ...error });
    if (status === 'completed') progress.tell({ RunCompleted: { duration_ms } });
    else if (status === 'failed') progress.tell({ RunFailed: { duration_ms, error: message } });
    else progress.tell({ RunCancelled: { duration_ms } });
    await progress.flush();
    ended = true;
    setCurrentDetails(status === 'failed' ? `Failed: ${message}` : `The run is ${status}.`);
    await runEnded();
    await condition(allHandlersFinished);
    return status;
  });
}

/** Starts queued runs while there is room, oldest first. Short-lived: whoever makes room or a run starts it again. */
export async function workflowRunDispatch(): Promise<void> {
  let looks = 1;
  setHandler(lookAgain, () => void (looks += 1));
  while (looks > 0) {
    looks = 0;
    await startQueued();
  }
}
