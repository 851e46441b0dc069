import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  setHandler,
  uuid4,
} from '@temporalio/workflow';
import { isMessageProof, messageUnproven } from '../../../../platform/crypto/message-proof-shape';
import { cut } from '../../../../platform/text/cut';
import { hasChange } from '../changes';
import type { RunActivities } from './activities';
import {
  type AcceptedProof,
  type Answer,
  answerQuestion,
  type Cancel,
  cancelRun,
  continuing,
  deliverWebhook,
  type Delivery,
  type Guidance,
  notNow,
  pauseRun,
  type RunMessageKind,
  type Signed,
  steerRun,
  tooMuch,
  unpauseRun,
  webhookUsed,
} from './messages';
import type { RunProgress } from './progress';

/** What messages change of an execution. */
export interface RunControl {
  paused: boolean;
  cancelled: boolean;
  /** The time of the run is over. */
  timedOut: boolean;
  /** The run has ended, and its end is written. */
  ended: boolean;
  /** The walk has stopped: the next execution takes further messages. */
  suspended: boolean;
  /** Messages whose proof is being verified. */
  verifying: number;
  answers: Map<string, Answer>;
  /** Bodies of calls that have come, by the stage that waits for them. */
  deliveries: Map<string, Delivery>;
  acceptedProofs: AcceptedProof[];
}

interface HandlerDependencies {
  runId: string;
  control: RunControl;
  progress: RunProgress;
  /** Breaks off what is under way. */
  scope: Pick<CancellationScope, 'cancel'>;
  activities: Pick<RunActivities, 'runEnded' | 'verifyMessage'>;
  children: ChildMessenger;
}

/** Passes messages on to the child runs. */
export interface ChildMessenger {
  /** Pauses or resumes them. */
  pause: (paused: boolean) => Promise<void>;
  /** Gives them guidance; returns the ids of those that take no more. */
  steer: (guidance: Guidance & { id: string }) => Promise<string[]>;
}

const refused = (type: string, message: string): ApplicationFailure =>
  ApplicationFailure.create({ type, message, nonRetryable: true });

/** What a message is recognised by; earlier versions sent some without one. */
const macOf = (message: Signed | undefined): string | undefined => message?.proof?.mac;

/** The result of a step; a message that it refuses is refused as one. */
async function refusing<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    throw error instanceof ActivityFailure && error.cause instanceof ApplicationFailure ? error.cause : error;
  }
}

function mustBeSigned(message: Signed | undefined): void {
  if (!isMessageProof(message?.proof)) {
    throw ApplicationFailure.nonRetryable('The message has no proof of the service.', messageUnproven);
  }
}

/**
 * Handles the messages to a run: pause, unpause, cancel, answer, steer.
 *
 * @returns the check of a message's proof, for the input as well
 */
export function handleMessages(dependencies: HandlerDependencies) {
  const { runId, control, progress, scope, activities, children } = dependencies;
  /** Only the service signs messages: any other sender is refused. */
  const verify = async (kind: RunMessageKind, message: Signed & object, acceptedAtMs = Date.now()): Promise<void> => {
    if (!hasChange('proven-messages')) {
      return;
    }
    control.verifying += 1;
    try {
      await CancellationScope.nonCancellable(() =>
        refusing(activities.verifyMessage({ kind, runId, message, acceptedAtMs })),
      );
    } finally {
      control.verifying -= 1;
    }
  };
  const wasAccepted = (message: Signed | undefined): boolean =>
    control.acceptedProofs.some(({ mac }) => mac === macOf(message));
  /**
   * A reader of histories can replay a message while its proof is valid, and the service sends one again whose execution continued
   * as new. Earlier versions sent some without a message.
   */
  const isRepeated = (message: Signed | undefined): boolean => {
    const repeated = wasAccepted(message);
    if (!repeated && message?.proof) {
      const { mac, expiresAt } = message.proof;
      control.acceptedProofs.push({ mac, expiresAt });
    }
    return repeated;
  };
  const mustBe = (fits: boolean, refusal: string, message: Signed): void => {
    mustBeSigned(message);
    if (wasAccepted(message)) {
      return;
    }
    if (control.suspended) {
      throw refused(continuing, 'The run continues in another execution. Send it again.');
    }
    if (control.ended || control.cancelled || !fits) {
      throw refused(notNow, refusal);
    }
  };
  const isAwaited = ({ stageId }: Delivery): boolean => progress.isAsked(stageId) && !control.deliveries.has(stageId);
  const pauseIf = async (pause: boolean, message: Signed): Promise<void> => {
    if (isRepeated(message)) {
      return;
    }
    await verify(pause ? 'pause' : 'unpause', message);
    control.paused = pause;
    progress.change({ status: pause ? 'paused' : 'running' });
    progress.record(pause ? { RunPaused: {} } : { RunUnpaused: {} }, macOf(message));
    await progress.flush();
    if (progress.hasChildren) {
      await CancellationScope.nonCancellable(() => children.pause(pause));
    }
    // Another run may start while this one is paused.
    if (pause) {
      await activities.runEnded();
    }
  };

  const steerChildren = async (guidance: Guidance & { id: string }): Promise<void> => {
    const run_ids = await CancellationScope.nonCancellable(() => children.steer(guidance));
    if (run_ids.length > 0) {
      progress.record({ ChildRunsNotSteered: { run_ids } }, guidance.id);
      await progress.flush();
    }
  };

  setHandler(pauseRun, (message) => pauseIf(true, message), {
    validator: (message: Signed) => {
      mustBe(progress.status === 'running' && !control.paused, 'Run is not pausable.', message);
    },
  });
  setHandler(unpauseRun, (message) => pauseIf(false, message), {
    validator: (message: Signed) => {
      mustBe(control.paused, 'Run is not paused.', message);
    },
  });
  setHandler(
    cancelRun,
    async (message) => {
      await verify('cancel', message);
      control.cancelled = true;
      // One that has not begun is not cancelled but never begun.
      if (progress.status !== 'starting') {
        scope.cancel();
      }
      await condition(() => control.ended);
    },
    {
      validator: (message: Cancel) => {
        mustBe(!control.paused || message.byParent === true, 'Run is not cancellable.', message);
      },
    },
  );
  setHandler(
    answerQuestion,
    async (message) => {
      if (isRepeated(message)) {
        return;
      }
      await verify('answer', message);
      const { proof: _proof, ...answer } = message;
      if (progress.isAsked(answer.questionId) && !control.answers.has(answer.questionId)) {
        control.answers.set(answer.questionId, answer);
      }
    },
    {
      validator: (message: Answer) => {
        mustBe(
          progress.isAsked(message.questionId) && !control.answers.has(message.questionId),
          'The question has been answered or withdrawn.',
          message,
        );
      },
    },
  );
  setHandler(
    deliverWebhook,
    async (message) => {
      if (isRepeated(message)) {
        return;
      }
      await verify('deliver', message);
      const { proof: _proof, ...delivery } = message;
      // Of calls that came at once one is taken: the others passed the validator while it was verified.
      if (!isAwaited(delivery)) {
        throw refused(notNow, webhookUsed);
      }
      control.deliveries.set(delivery.stageId, delivery);
    },
    {
      validator: (message: Delivery) => {
        mustBe(isAwaited(message), webhookUsed, message);
      },
    },
  );
  setHandler(
    steerRun,
    async (message) => {
      if (isRepeated(message)) {
        return;
      }
      const { proof: _proof, id = uuid4(), ...given } = message;
      if (progress.guidance.some((each) => each.id === id)) {
        return;
      }
      const guidance = { id, ...given };
      // Before it is verified: what comes meanwhile has to fit beside it.
      progress.countGuidance(guidance);
      await verify('steer', message).catch((error: unknown) => {
        progress.countGuidance(guidance, -1);
        throw error;
      });
      progress.addGuidance(guidance);
      progress.record({ Steered: { text: cut(guidance.text, 1_000) } }, macOf(message));
      await progress.flush();
      if (progress.hasChildren) {
        await steerChildren(guidance);
      }
    },
    {
      validator: (message: Guidance) => {
        mustBe(progress.status !== 'starting', 'The run cannot be steered now.', message);
        if (!wasAccepted(message) && !progress.hasRoomFor(message)) {
          throw refused(
            tooMuch,
            'A run takes 200 pieces of guidance with 20,000 characters altogether, which its prompts hold. Cancel it and start one whose prompts say it.',
          );
        }
      },
    },
  );
  return verify;
}
