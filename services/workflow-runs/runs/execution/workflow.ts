import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  patched,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { isMessageProof, messageUnproven } from '../../../../platform/crypto/message-proof-shape';
import type { RunStatus } from '../run';
import type { RunActivities } from './activities';
import {
  type Answer,
  answerQuestion,
  cancelRun,
  lookAgain,
  notNow,
  pauseRun,
  type RunInput,
  type RunMessageKind,
  type Signed,
  steerRun,
  unpauseRun,
} from './messages';
import { RunProgress } from './progress';
import { walk } from './walk';

/** Store work and a signal: short, repeatable, and not worth a round trip by way of the queue. */
const { saveRun, runEnded, startQueued, verifyMessage } = proxyLocalActivities<
  Pick<RunActivities, 'saveRun' | 'runEnded' | 'startQueued' | 'verifyMessage'>
>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

const refused = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ type: notNow, message, nonRetryable: true });

const nothing = (): undefined => undefined;

/** The result of a step; a message that it refuses is refused as one. */
async function refusing<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    throw error instanceof ActivityFailure && error.cause instanceof ApplicationFailure ? error.cause : error;
  }
}

/** Runs a graph from its start to an end. Everything callers read of it is written as it happens. */
export async function workflowRun(input: RunInput): Promise<RunStatus> {
  const { runId, graph } = input;
  const progress = new RunProgress(runId, graph, saveRun);
  const answers = new Map<string, Answer>();
  const acceptedProofs = new Set<string>();
  const scope = new CancellationScope();
  const startedAt = new Date();
  const state = { paused: false, cancelled: false, ended: false, verifying: 0 };

  const begin = (): Promise<unknown> => {
    progress.change({ status: 'running', started_at: startedAt.toISOString() });
    progress.tell({ RunStarted: { name: graph.name, ...(graph.goal !== undefined && { goal: graph.goal }) } });
    setCurrentDetails(`Running ${graph.name}.`);
    return walk(graph.start, {
      runId,
      goal: graph.goal,
      graph,
      progress,
      answers,
      isPaused: () => state.paused,
      traversals: new Map(),
    });
  };
  /** Only the service signs messages: any other sender is refused. */
  const verify = async (kind: RunMessageKind, message: Signed & object): Promise<void> => {
    if (!patched('proven-messages')) {
      return;
    }
    const acceptedAtMs = kind === 'start' ? workflowInfo().startTime.getTime() : Date.now();
    state.verifying += 1;
    try {
      await CancellationScope.nonCancellable(() => refusing(verifyMessage({ kind, runId, message, acceptedAtMs })));
    } finally {
      state.verifying -= 1;
    }
  };
  /** A reader of histories can replay a message while its proof is valid. Earlier versions sent some without a message. */
  const isRepeated = (message: Signed | undefined): boolean => {
    const proof = message?.proof;
    if (proof === undefined) {
      return false;
    }
    const repeated = acceptedProofs.has(proof.mac);
    acceptedProofs.add(proof.mac);
    return repeated;
  };
  const mustBeSigned = (message: Signed | undefined): void => {
    if (!isMessageProof(message?.proof)) {
      throw ApplicationFailure.nonRetryable('The message has no proof of the service.', messageUnproven);
    }
  };
  const mustBe = (fits: boolean, message: string): void => {
    if (state.ended || state.cancelled || !fits) {
      throw refused(message);
    }
  };
  const pauseOrGoOn = async (pause: boolean): Promise<void> => {
    state.paused = pause;
    progress.change({ status: pause ? 'paused' : 'running' });
    progress.tell(pause ? { RunPaused: {} } : { RunUnpaused: {} });
    await progress.flush();
    // Another run may start while this one is paused.
    if (pause) {
      await runEnded();
    }
  };
  const pauseIf = async (pause: boolean, message: Signed): Promise<void> => {
    if (isRepeated(message)) {
      return;
    }
    await verify(pause ? 'pause' : 'unpause', message);
    await pauseOrGoOn(pause);
  };
  setHandler(pauseRun, (message) => pauseIf(true, message), {
    validator: (message: Signed) => {
      mustBeSigned(message);
      mustBe(progress.status === 'running' && !state.paused, 'Run is not pausable.');
    },
  });
  setHandler(unpauseRun, (message) => pauseIf(false, message), {
    validator: (message: Signed) => {
      mustBeSigned(message);
      mustBe(state.paused, 'Run is not paused.');
    },
  });
  setHandler(
    cancelRun,
    async (message) => {
      await verify('cancel', message);
      state.cancelled = true;
      // One that has not begun is not cancelled but never begun.
      if (progress.status !== 'starting') {
        scope.cancel();
      }
      await condition(() => state.ended);
    },
    {
      validator: (message: Signed) => {
        mustBeSigned(message);
        mustBe(!state.paused, 'Run is not cancellable.');
      },
    },
  );
  setHandler(
    answerQuestion,
    async (message) => {
      await verify('answer', message);
      const { proof: _proof, ...answer } = message;
      if (!answers.has(answer.questionId)) {
        answers.set(answer.questionId, answer);
      }
    },
    {
      validator: (message: Answer) => {
        mustBeSigned(message);
        mustBe(
          progress.questions.some(({ id }) => id === message.questionId) && !answers.has(message.questionId),
          'The question has been answered or withdrawn.',
        );
      },
    },
  );
  setHandler(
    steerRun,
    async (message) => {
      if (isRepeated(message)) {
        return;
      }
      await verify('steer', message);
      const { proof: _proof, ...guidance } = message;
      progress.addGuidance(guidance);
      progress.tell({ Steered: { text: guidance.text.slice(0, 1_000) } });
      await progress.flush();
    },
    {
      validator: (message: Signed) => {
        mustBeSigned(message);
        mustBe(progress.status !== 'starting', 'The run cannot be steered now.');
      },
    },
  );

  await verify('start', input);
  // A cancel that came with the start is known for one before anything begins.
  if (state.verifying > 0) {
    await condition(() => state.verifying === 0);
  }
  const failure = state.cancelled ? undefined : await scope.run(begin).then(nothing, (error: unknown) => error);

  return CancellationScope.nonCancellable(async () => {
    const status = state.cancelled || isCancellation(failure) ? 'cancelled' : failure ? 'failed' : 'completed';
    const endedAt = new Date();
    const duration_ms = endedAt.getTime() - startedAt.getTime();
    const message = failure instanceof Error ? failure.message : 'It failed.';
    const error = status === 'failed' ? { error: { message } } : {};
    progress.change({ status, ended_at: endedAt.toISOString(), questions: [], ...error });
    if (status === 'completed') {
      progress.tell({ RunCompleted: { duration_ms } });
    } else if (status === 'failed') {
      progress.tell({ RunFailed: { duration_ms, error: message } });
    } else {
      progress.tell({ RunCancelled: { duration_ms } });
    }
    await progress.flush();
    state.ended = true;
    setCurrentDetails(status === 'failed' ? `Failed: ${message}` : `The run is ${status}.`);
    await runEnded();
    await condition(allHandlersFinished);
    return status;
  });
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
    await startQueued();
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof workflowRunDispatch>(idleMs);
    }
  } while (await condition(() => looks > 0, Math.max(1, idleMs)));
}
