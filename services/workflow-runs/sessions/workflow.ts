import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  condition,
  continueAsNew,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { SessionActivities } from './activities';
import { type Acceptance, acceptedUpdate, type SessionMessage } from './messages';
import type { SessionToolActivities } from './tools/activities';
import type { AskedRound, RoundInput, SessionToolInput } from './tools/messages';

const { acceptMessage, tellFailure } = proxyActivities<Pick<SessionActivities, 'acceptMessage' | 'tellFailure'>>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

/** A worker that died is noticed by its silence; a model that cannot be reached is asked for about a minute. */
const { answerMessage } = proxyActivities<{
  /** In recorded histories that are older than tools of sessions it brings nothing. */
  answerMessage(input: RoundInput): Promise<AskedRound | undefined>;
}>({
  startToCloseTimeout: '65 minutes',
  heartbeatTimeout: '5 seconds',
  retry: { initialInterval: '500 milliseconds', maximumInterval: '15 seconds', maximumAttempts: 10 },
});

const { callSessionTool } = proxyActivities<Pick<SessionToolActivities, 'callSessionTool'>>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/** How long a call is waited for at a time, in milliseconds; the history is as short as that is long. */
const lookMs = 120_000;
/** The pause before the board is asked again that could not be asked, which is doubled each time, and the longest, in milliseconds. */
const pause = { first: 2_000, longest: 60_000 };
/** An execution continues as new when its history has this many events; Temporal warns at 10,240. */
const usualMaxEvents = 4_000;

/**
 * Accepts a message of a session and answers it: whatever dies in between, a message that was accepted gets an answer, or
 * its watchers are notified that it gets none.
 *
 * @param round which an earlier execution of the same message has come to
 */
export async function sessionGeneration(message: SessionMessage, round?: number): Promise<Acceptance> {
  const state: { acceptance?: Acceptance } = {};
  setHandler(acceptedUpdate, async () => {
    await condition(() => state.acceptance !== undefined);
    return state.acceptance ?? 'missing';
  });
  state.acceptance = round === undefined ? await acceptMessage(message) : 'accepted';
  let next: number | undefined;
  if (state.acceptance === 'accepted') {
    try {
      next = await answer(message, round ?? 1);
    } catch (error) {
      await tellFailure({ id: message.id, message: reasonOf(error) });
    }
  }
  await condition(allHandlersFinished);
  return next === undefined ? state.acceptance : continueAsNew<typeof sessionGeneration>(message, next);
}

/**
 * Asks the model, makes the calls that it asks for, and asks again, until it answers or another message has come.
 *
 * @returns the round that the next execution resumes, when the history is long
 */
async function answer({ id, maxEvents = usualMaxEvents }: SessionMessage, from: number): Promise<number | undefined> {
  let pauseMs = pause.first;
  for (let round = from; ; round += 1) {
    let asked = await askRound(id, round);
    for (; 'waiting' in asked; asked = await askRound(id, round)) {
      await sleep(pauseMs);
      pauseMs = Math.min(pauseMs * 2, pause.longest);
      if (isLong(maxEvents)) {
        return round;
      }
    }
    if (asked.calls === 0) {
      return undefined;
    }
    for (let index = 0; index < asked.calls; index += 1) {
      const end = await called({ id, round, index }, maxEvents);
      if (end !== 'ended') {
        return end === 'superseded' ? undefined : round;
      }
    }
    if (isLong(maxEvents)) {
      return round + 1;
    }
    pauseMs = pause.first;
  }
}

const askRound = async (id: string, round: number): Promise<AskedRound> =>
  (await answerMessage({ id, round })) ?? { calls: 0 };

async function called(
  call: Pick<SessionToolInput, 'id' | 'round' | 'index'>,
  maxEvents: number,
): Promise<'ended' | 'superseded' | 'suspended'> {
  let known: Pick<SessionToolInput, 'approvalId' | 'isSent'> = {};
  for (let pauseMs = pause.first; ;) {
    const made = await callSessionTool({ ...call, ...known, forMs: lookMs });
    if (made.state === 'ended' || made.state === 'superseded') {
      return made.state;
    }
    if (isLong(maxEvents)) {
      return 'suspended';
    }
    if (made.state === 'waiting') {
      await sleep(pauseMs);
      pauseMs = Math.min(pauseMs * 2, pause.longest);
    } else {
      known = made.state === 'approval' ? { approvalId: made.approvalId } : { isSent: true };
    }
  }
}

function isLong(maxEvents: number): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return historyLength >= maxEvents || continueAsNewSuggested;
}

/** The last attempt's reason; a worker that died gives none. */
function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && (cause.type === 'MODEL' || cause.type === 'TOOLS')
    ? cause.message
    : 'The answer could not be finished.';
}
