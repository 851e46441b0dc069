import { randomBytes } from 'node:crypto';
import { WebSocket } from 'ws';
import { z } from 'zod';
import type { CommunityEvent } from '../../../contracts/chat/community-event';
import { filteredAgents, ForbiddenAddressError } from '../../../platform/http/filtered-fetch';
import { type SendOutcome, unreachable } from '../outcome';
import { eventKinds } from './event';
import { readError } from './http-relay';
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

/** Messages that are read while one response is waited for; a relay that sends more does not get to the point. */
const maxMessages = 2_000;

const message = z.tuple([z.string().max(20)], z.unknown());
type Message = z.output<typeof message>;

/** A relay over its WebSocket (NIP-01), with authentication where it asks for it (NIP-42). */
export function webSocketRelay(settings: RelaySettings & { webSocketUrl: string }): CommunityRelay {
  return {
    async publish(event): Promise<SendOutcome> {
      try {
        const [accepted, reason] = await withSession(settings, (session) => publish(session, event));
        return publishOutcome(accepted, reason);
      } catch (error) {
        return error instanceof SigningError || error instanceof RelayError
          ? { acknowledged: false, reasonCode: error.reasonCode, error: error.message, isFinal: false }
          : unreachable(error as Error);
      }
    },

    async query(filter): Promise<EventPage> {
      try {
        return await withSession(settings, (session) => query(session, { ...filter }, filter.limit));
      } catch (error) {
        throw readError(error as Error);
      }
    },
  };
}

const isAuthRequired = (reason: unknown): boolean => typeof reason === 'string' && reason.startsWith('auth-required:');

async function publish(session: Session, event: CommunityEvent): Promise<[accepted: boolean, reason: string]> {
  for (let attempt = 1; ; attempt += 1) {
    session.send(['EVENT', event]);
    const [, , accepted, reason] = await session.receive(([type, id]) => type === 'OK' && id === event.id);
    if (accepted !== true && attempt === 1 && isAuthRequired(reason) && (await session.authenticate())) {
      continue;
    }
    return [accepted === true, typeof reason === 'string' ? reason : ''];
  }
}

async function query(session: Session, filter: object, limit: number): Promise<EventPage> {
  for (let attempt = 1; ; attempt += 1) {
    const subscription = randomBytes(8).toString('hex');
    const found: unknown[] = [];
    session.send(['REQ', subscription, filter]);
    const [end, , reason] = await session.receive(([type, id, content]) => {
      if (type === 'EVENT' && id === subscription) {
        found.push(content);
      }
      return (type === 'EOSE' || type === 'CLOSED') && id === subscription;
    });
    if (end === 'EOSE') {
      session.send(['CLOSE', subscription]);
      return eventPage(found, limit);
    }
    if (attempt > 1 || !isAuthRequired(reason) || !(await session.authenticate())) {
      throw new RelayError(isAuthRequired(reason) ? 'auth-required' : 'refused', 'The relay refused to be read.');
    }
  }
}

/** One connection, on which one thing at a time is waited for. */
class Session {
  readonly #received: Message[] = [];
  #wake: (() => void) | undefined;
  #failure: Error | undefined;
  #challenge: string | undefined;
  #count = 0;

  constructor(
    private readonly socket: WebSocket,
    private readonly settings: RelaySettings & { webSocketUrl: string },
  ) {
    socket.on('message', (data: Buffer) => this.#accept(data.toString()));
    socket.once('close', () => this.fail(new Error('The relay closed the connection.')));
  }

  fail(error: Error): void {
    this.#failure ??= error;
    this.#wake?.();
  }

  send(content: unknown): void {
    this.socket.send(JSON.stringify(content));
  }

  /** The first message that `isEnd` is true of. @throws the failure of the connection */
  async receive(isEnd: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const next = this.#received.shift();
      if (next && isEnd(next)) {
        return next;
      }
      if (!next) {
        if (this.#failure) {
          throw this.#failure;
        }
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }

  /** Proves who calls; whether the relay asked for that, and something can sign. */
  async authenticate(): Promise<boolean> {
    const { sign, webSocketUrl, now } = this.settings;
    if (this.#challenge === undefined || !sign) {
      return false;
    }
    const proof = await sign({
      kind: eventKinds.relayAuth,
      created_at: Math.floor(now().getTime() / 1000),
      tags: [
        ['relay', webSocketUrl],
        ['challenge', this.#challenge],
      ],
      content: '',
    });
    this.send(['AUTH', proof]);
    const [, , accepted] = await this.receive(([type, id]) => type === 'OK' && id === proof.id);
    return accepted === true;
  }

  #accept(text: string): void {
    this.#count += 1;
    if (this.#count > maxMessages) {
      this.fail(new RelayError('malformed-response', 'The relay sends without end.'));
      this.socket.terminate();
      return;
    }
    const parsed = message.safeParse(parse(text));
    if (!parsed.success) {
      return;
    }
    const [type, content] = parsed.data;
    if (type === 'AUTH' && typeof content === 'string' && content.length <= 500) {
      this.#challenge = content;
      return;
    }
    this.#received.push(parsed.data);
    this.#wake?.();
  }
}

/** Connects for one piece of work, which ends within the time limit. @throws Error, ForbiddenAddressError, RelayError */
async function withSession<T>(
  settings: RelaySettings & { webSocketUrl: string },
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const { webSocketUrl, allowPrivateNetwork, allowLocalhost, timeoutMs } = settings;
  const agents = filteredAgents({ allowPrivate: allowPrivateNetwork, allowLoopback: allowLocalhost });
  agents.assertAllowed(new URL(webSocketUrl));
  const socket = new WebSocket(webSocketUrl, {
    agent: webSocketUrl.toLowerCase().startsWith('wss:') ? agents.https : agents.http,
    handshakeTimeout: timeoutMs,
    maxPayload: relayLimits.maxBytes,
    followRedirects: false,
    perMessageDeflate: false,
  });
  const session = new Session(socket, settings);
  const limit = setTimeout(() => {
    session.fail(new Error('The relay did not respond in time.'));
    socket.terminate();
  }, timeoutMs);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.on('error', (error) => {
        const failure = /is not allowed/.test(error.message) ? new ForbiddenAddressError(error.message) : error;
        session.fail(failure);
        reject(failure);
      });
      socket.once('close', () => reject(new Error('The relay closed the connection.')));
    });
    return await work(session);
  } finally {
    clearTimeout(limit);
    socket.terminate();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
