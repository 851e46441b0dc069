import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '../../../platform/errors/app-error';
import type { BytesResponse } from '../../../platform/http/response';
import { ModelError } from '../../../platform/models/errors';
import type { Models } from '../../../platform/models/models';
import type { ModelRequest } from '../../../platform/models/request';
import { EventQueue } from '../http/event-queue';
import { eventStream, type ServerSentEvent } from '../http/event-stream';
import { withPings } from '../http/pings';
import { MessageEvents, typed } from './message-events';

interface Streaming {
  models: Models;
  request: ModelRequest;
  /** Of the message. */
  id: string;
  /** Id of the model that was chosen. */
  model: string;
  signal: AbortSignal;
  pingMs: number;
}

/**
 * Asks a model and responds with events. A model that fails before its first word is still refused with a status; but
 * the response begins at the latest when a `ping` would be due, and a later failure is sent as an event.
 *
 * @throws ModelError when the model fails before the response has begun
 */
export async function streamCompletion({
  models,
  request,
  id,
  model,
  signal,
  pingMs,
}: Streaming): Promise<BytesResponse> {
  const events = new EventQueue<ServerSentEvent>();
  const writer = new MessageEvents(events);
  const begun = { value: false };
  const begin = (): void => {
    if (!begun.value) {
      writer.start(id, model);
    }
    begun.value = true;
  };
  const { onText, onThinking, onToolCall } = writer;
  const answered = models
    .complete(request, {
      signal,
      onText: beforehand(begin, onText),
      onThinking: beforehand(begin, onThinking),
      onToolCall: beforehand(begin, onToolCall),
    })
    .then(
      (answer) => {
        begin();
        writer.finish(answer);
      },
      (error: unknown) => {
        if (!begun.value) {
          throw error;
        }
        // What is no failure of the model is not explained to callers.
        writer.fail(error instanceof ModelError ? `LLM error: ${errorMessage(error)}` : 'An internal error occurred.');
      },
    );
  const waiting = new AbortController();
  try {
    await Promise.race([answered, events.changed(), delay(pingMs, undefined, { signal: waiting.signal }).then(begin)]);
  } finally {
    waiting.abort();
  }
  return eventStream(withPings(events, pingMs, typed('ping')));
}

/** The answer of a dry run. */
export function streamNothing(id: string, model: string): BytesResponse {
  const events = new EventQueue<ServerSentEvent>();
  const writer = new MessageEvents(events);
  writer.start(id, model);
  writer.stop();
  return eventStream(events);
}

const beforehand =
  <A extends unknown[]>(first: () => void, then: (...args: A) => void) =>
  (...args: A): void => {
    first();
    then(...args);
  };
