import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  condition,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import type { SessionActivities } from './activities';
import { type Acceptance, acceptedUpdate, type SessionMessage } from './messages';

const { acceptMessage, tellFailure } = proxyActivities<Pick<SessionActivities, 'acceptMessage' | 'tellFailure'>>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

/** A worker that died is noticed by its silence; a model that cannot be reached is asked for about a minute. */
const { answerMessage } = proxyActivities<Pick<SessionActivities, 'answerMessage'>>({
  startToCloseTimeout: '65 minutes',
  heartbeatTimeout: '5 seconds',
  retry: { initialInterval: '500 milliseconds', maximumInterval: '15 seconds', maximumAttempts: 10 },
});

/**
 * Accepts a message of a session and answers it: whatever dies in between, a message that was accepted gets an answer, or
 * its watchers are notified that it gets none.
 */
export async function sessionGeneration(message: SessionMessage): Promise<Acceptance> {
  const state: { acceptance?: Acceptance } = {};
  setHandler(acceptedUpdate, async () => {
    await condition(() => state.acceptance !== undefined);
    return state.acceptance ?? 'missing';
  });
  state.acceptance = await acceptMessage(message);
  if (state.acceptance === 'accepted') {
    try {
      await answerMessage({ id: message.id });
    } catch (error) {
      await tellFailure({ id: message.id, message: reasonOf(error) });
    }
  }
  await condition(allHandlersFinished);
  return state.acceptance;
}

/** The last attempt's reason; a worker that died gives none. */
function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && cause.type === 'MODEL'
    ? cause.message
    : 'The answer could not be finished.';
}
