import { ApplicationFailure } from '@temporalio/activity';
import { compact } from '../../../platform/json/compact';
import { ModelError } from '../../../platform/models/errors';
import type { ModelAnswer, ModelRequest } from '../../../platform/models/request';
import type { WorkflowRunsContext } from '../context';
import { DeltaWriter } from './delta-writer';
import { conversationOf, maxExchanges } from './history';
import type { Exchange, SessionRecord } from './session';

/** The longest pause that a provider may ask for, in milliseconds: a person waits. */
const longestRetryAfterMs = 60_000;

interface Generation {
  session: SessionRecord;
  exchange: Exchange;
  /** What the model may call; absent for nothing. */
  tools?: Pick<ModelRequest, 'tools' | 'tool_choice'> | undefined;
  /** How often the model was asked for this answer, with this time. */
  round: number;
  /** Which try this is, from 1. */
  attempt: number;
  cancelled: AbortSignal;
}

/**
 * Makes the function that asks a model for the answer to a message.
 *
 * @returns what it answers; nothing when another message came before it was there
 */
export function createGenerator({
  sessions,
  models,
  now,
  ending,
}: Pick<WorkflowRunsContext, 'sessions' | 'models' | 'now' | 'ending'>) {
  const { events } = sessions;

  return async ({
    session,
    exchange,
    tools,
    round,
    attempt,
    cancelled,
  }: Generation): Promise<ModelAnswer | undefined> => {
    const from = await events.last(session._id);
    // A message that comes later than this is seen as an event after `from`.
    if (await sessions.hasNewer(exchange)) {
      return undefined;
    }
    const superseded = new AbortController();
    const broken = new AbortController();
    const over = new AbortController();
    const breakOff = (error: unknown): void => broken.abort(error);
    const writer = new DeltaWriter({ events, exchange, round, attempt, now, onFailure: breakOff });
    const watching = untilSuperseded(exchange, { from, signal: over.signal, found: () => superseded.abort() }).catch(
      breakOff,
    );
    try {
      const answer = await models.complete(await requestOf(session, exchange, tools), {
        signal: AbortSignal.any([cancelled, ending, superseded.signal, broken.signal]),
        onText: writer.add,
      });
      await writer.flush();
      broken.signal.throwIfAborted();
      return answer;
    } catch (error) {
      if (superseded.signal.aborted) {
        return undefined;
      }
      if (ending.aborted) {
        throw workerShutDown();
      }
      if (cancelled.aborted) {
        throw cancelled.reason;
      }
      if (broken.signal.aborted) {
        throw broken.signal.reason;
      }
      throw error instanceof ModelError ? failureOf(error) : error;
    } finally {
      await writer.flush();
      over.abort();
      await watching;
    }
  };

  async function requestOf(
    { _id, model: chosen, system }: SessionRecord,
    { number }: Exchange,
    tools: Generation['tools'],
  ): Promise<ModelRequest> {
    // The catalog may have changed since the session began.
    const model = models.find(chosen) ?? models.default();
    const exchanges = await sessions.upTo(_id, number, maxExchanges);
    return {
      model: model.id,
      messages: conversationOf(exchanges, model.limits.context_window),
      ...compact({ system, ...tools }),
    };
  }

  async function untilSuperseded(
    { session, number }: Exchange,
    { from, signal, found }: { from: number; signal: AbortSignal; found: () => void },
  ): Promise<void> {
    for await (const batch of events.watch(session, from, signal)) {
      if (batch.some(({ event, data }) => event === 'superseded' && data.turn === number)) {
        found();
      }
    }
  }
}

/** The next worker begins again. */
const workerShutDown = () => ApplicationFailure.create({ type: 'WORKER_SHUTDOWN', message: 'The worker shut down.' });

const failureOf = (error: ModelError): ApplicationFailure =>
  ApplicationFailure.create({
    ...{ type: 'MODEL', message: `LLM error: ${error.message}`, nonRetryable: !error.retryable },
    ...(error.retryAfterMs !== undefined && { nextRetryDelay: Math.min(error.retryAfterMs, longestRetryAfterMs) }),
  });
