import { type CommunityEvent, communityEvent } from '../../../contracts/chat/community-event';
import type { SendOutcome } from '../outcome';
import { isGenuine } from './event';
import type { SignEvent } from './signer';

/** Which events are read (NIP-01). */
export interface EventFilter {
  kinds: number[];
  '#h'?: string[];
  since?: number;
  until?: number;
  limit: number;
}

/** A relay of a community. Both calls authenticate as the identity where the relay asks for it and something can sign. */
export interface CommunityRelay {
  /** Every way it can fail is an outcome. */
  publish(event: CommunityEvent): Promise<SendOutcome>;
  /** @throws RelayError */
  query(filter: EventFilter): Promise<EventPage>;
}

/** What a relay returned for a filter. */
export interface EventPage {
  /** The genuine ones. */
  events: CommunityEvent[];
  /** How many there were with those that are not. */
  received: number;
}

/** The events of a page that have the shape of one and are genuine, at most as many as were asked for. */
export function eventPage(received: readonly unknown[], limit: number): EventPage {
  const events = received.slice(0, limit).flatMap((one) => {
    const event = communityEvent.safeParse(one);
    return event.success && isGenuine(event.data) ? [event.data] : [];
  });
  return { events, received: received.length };
}

export interface RelaySettings {
  httpUrl: string;
  webSocketUrl: string | null;
  sign: SignEvent | undefined;
  allowLocalhost: boolean;
  allowPrivateNetwork: boolean;
  timeoutMs: number;
  now: () => Date;
}

/** Why a relay cannot be read: a code and a sentence without its texts. */
export class RelayError extends Error {
  override readonly name = 'RelayError';

  constructor(
    readonly reasonCode: string,
    message: string,
  ) {
    super(message);
  }
}

/** The most of one response that is read, and the most events. */
export const relayLimits = { maxBytes: 2_000_000, maxEvents: 500 };

/** What a relay's response to an event comes to (NIP-01, prefixes of OK). */
export function publishOutcome(accepted: boolean, reason: string): SendOutcome {
  const prefix = /^([a-z-]{1,40}):/.exec(reason)?.[1] ?? '';
  if (accepted || prefix === 'duplicate') {
    return { acknowledged: true };
  }
  const passing = ['', 'error', 'rate-limited', 'auth-required'].includes(prefix);
  return {
    acknowledged: false,
    reasonCode: prefix === '' || prefix === 'error' ? 'unavailable' : prefix,
    error: `The relay did not accept the message: ${prefix === '' ? 'it states no reason' : prefix}.`,
    isFinal: !passing,
  };
}
