import type { AdapterDelivery } from '../../contracts/chat/adapter-delivery';
import { slackMessage, teamsMessage } from '../../domain/communication/messages';
import { createFilteredFetch, type FilteredFetch } from '../../platform/http/filtered-fetch';
import { refusedStatus, type SendOutcome, type Unacknowledged, unreachable } from './outcome';

/** A webhook of a team chat, with its secrets. */
export interface TeamChatWebhook {
  kind: 'slack' | 'teams';
  url: string;
  credential: string | undefined;
  /** Whether it may be on a private network. */
  allowPrivate: boolean;
  timeoutMs: number;
  now: () => Date;
}

/** The most of a response that is read. */
const maxBytes = 16_384;

const fetchOf = ({ url, allowPrivate, timeoutMs }: TeamChatWebhook): FilteredFetch =>
  createFilteredFetch({ origin: new URL(url).origin, allowPrivate, timeoutMs, maxBytes });

/** Posts a message once, under the id that a gateway in between knows repetitions by. Every way it can fail is an outcome. */
export async function sendToTeamChat(
  webhook: TeamChatWebhook,
  delivery: Pick<AdapterDelivery, 'id' | 'title' | 'message'>,
): Promise<SendOutcome> {
  const { kind, url, credential, now } = webhook;
  const body = JSON.stringify(kind === 'slack' ? slackMessage(delivery) : teamsMessage(delivery));
  const headers = {
    'content-type': 'application/json',
    'idempotency-key': delivery.id,
    ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
  };
  let response: Response;
  let text: string;
  try {
    response = await fetchOf(webhook)(url, { method: 'POST', headers, body });
    text = await response.text();
  } catch (error) {
    return unreachable(error as Error);
  }
  return response.ok ? outcomeOf(kind, response.status, text.trim()) : refusedStatus(response, now());
}

/** A success counts as one only with the response that the team chat documents: a page of a proxy acknowledges nothing. */
function outcomeOf(kind: TeamChatWebhook['kind'], httpStatus: number, text: string): SendOutcome {
  if (kind === 'slack') {
    return text === 'ok' ? { acknowledged: true, httpStatus } : malformed(httpStatus);
  }
  // Workflows accept with 202. Connectors respond with 1, and with 200 to what Teams has refused.
  if (httpStatus === 202 || text === '1' || text === '') {
    return { acknowledged: true, httpStatus };
  }
  if (/HTTP error 429/i.test(text)) {
    return {
      acknowledged: false,
      reasonCode: 'rate-limited',
      error: 'Teams refused the message for now: too many messages.',
      httpStatus,
      isFinal: false,
    };
  }
  return malformed(httpStatus);
}

const malformed = (httpStatus: number): Unacknowledged => ({
  acknowledged: false,
  reasonCode: 'malformed-response',
  error: 'The receiver responded with a success that the team chat does not document.',
  httpStatus,
  isFinal: false,
});

/** Whether something responds at the address of a webhook; nothing is sent to the chat. */
export async function reachTeamChat(webhook: TeamChatWebhook): Promise<{ httpStatus: number } | Unacknowledged> {
  try {
    const { status } = await fetchOf(webhook)(webhook.url, { method: 'HEAD' });
    return { httpStatus: status };
  } catch (error) {
    return unreachable(error as Error);
  }
}
