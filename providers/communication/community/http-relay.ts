import { createHash } from 'node:crypto';
import { z } from 'zod';
import { publishResponse, type RelayInformation, relayInformation } from '../../../contracts/chat/community-event';
import { createFilteredFetch, type FilteredFetch } from '../../../platform/http/filtered-fetch';
import { refusedStatus, type SendOutcome, unreachable } from '../outcome';
import { eventKinds } from './event';
import {
  type CommunityRelay,
  type EventPage,
  eventPage,
  publishOutcome,
  RelayError,
  relayLimits,
  type RelaySettings,
} from './relay';
import { SigningError } from './signer';

export const relayFetch = (settings: RelaySettings): FilteredFetch =>
  createFilteredFetch({
    origin: new URL(settings.httpUrl).origin,
    allowPrivate: settings.allowPrivateNetwork,
    allowLoopback: settings.allowLocalhost,
    timeoutMs: settings.timeoutMs,
    maxBytes: relayLimits.maxBytes,
  });

const events = z.array(z.unknown()).max(relayLimits.maxEvents);

/** A relay that takes events by `POST <url>/events` and filters by `POST <url>/query`, each signed by its caller (NIP-98). */
export function httpRelay(settings: RelaySettings): CommunityRelay {
  const { sign, now } = settings;
  const send = relayFetch(settings);

  async function post(path: string, content: unknown): Promise<{ response: Response; body: unknown }> {
    const url = `${settings.httpUrl.replace(/\/+$/, '')}${path}`;
    const body = JSON.stringify(content);
    const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' };
    const proof = await sign?.({
      kind: eventKinds.httpAuth,
      created_at: Math.floor(now().getTime() / 1000),
      tags: [
        ['u', url],
        ['method', 'POST'],
        ['payload', createHash('sha256').update(body).digest('hex')],
      ],
      content: '',
    });
    if (proof) {
      headers.authorization = `Nostr ${Buffer.from(JSON.stringify(proof)).toString('base64')}`;
    }
    const response = await send(url, { method: 'POST', headers, body });
    return { response, body: parsed(await response.text()) };
  }

  return {
    async publish(event): Promise<SendOutcome> {
      let answer: Awaited<ReturnType<typeof post>>;
      try {
        answer = await post('/events', event);
      } catch (error) {
        return error instanceof SigningError
          ? { acknowledged: false, reasonCode: error.reasonCode, error: error.message, isFinal: false }
          : unreachable(error as Error);
      }
      const { response, body } = answer;
      const result = publishResponse.safeParse(body);
      if (result.success && (response.ok || !result.data.accepted)) {
        const outcome = publishOutcome(result.data.accepted, result.data.message ?? '');
        return response.ok || outcome.acknowledged ? outcome : { ...refusedStatus(response, now()), ...outcome };
      }
      if (!response.ok) {
        return refusedStatus(response, now());
      }
      const error = 'The relay responded with something else than the outcome of the message.';
      return { acknowledged: false, reasonCode: 'malformed-response', error, isFinal: false };
    },

    async query(filter): Promise<EventPage> {
      const { response, body } = await post('/query', [filter]).catch((error: unknown) => {
        throw readError(error as Error);
      });
      if (!response.ok) {
        const { reasonCode } = refusedStatus(response, now());
        throw new RelayError(reasonCode, `The relay responded with ${response.status}.`);
      }
      const found = events.safeParse(body);
      if (!found.success) {
        throw new RelayError('malformed-response', 'The relay responded with something else than a list of events.');
      }
      return eventPage(found.data, filter.limit);
    },
  };
}

/** What the relay reports of itself (NIP-11). @throws RelayError */
export async function readInformation(settings: RelaySettings): Promise<RelayInformation> {
  const headers = { accept: 'application/nostr+json' };
  const answer = relayFetch(settings)(settings.httpUrl, { headers });
  const response = await answer.catch((error: unknown) => {
    throw readError(error as Error);
  });
  if (!response.ok) {
    throw new RelayError(refusedStatus(response, settings.now()).reasonCode, `It responded with ${response.status}.`);
  }
  const information = relayInformation.safeParse(parsed(await response.text()));
  if (!information.success) {
    throw new RelayError('malformed-response', 'It reports nothing that is a document about a relay.');
  }
  return information.data;
}

/** Why reading failed. */
export function readError(error: Error): RelayError {
  if (error instanceof RelayError) {
    return error;
  }
  if (error instanceof SigningError) {
    return new RelayError(error.reasonCode, error.message);
  }
  const { reasonCode, error: message } = unreachable(error);
  return new RelayError(reasonCode, message);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
