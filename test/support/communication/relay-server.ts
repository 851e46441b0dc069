import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { schnorr } from '@noble/curves/secp256k1';
import { type WebSocket, WebSocketServer } from 'ws';
import type { CommunityEvent, UnsignedEvent } from '../../../contracts/chat/community-event';
import { eventId, isGenuine, publicKeyOf, signEvent, tagOf } from '../../../providers/communication/community/event';

/** A person of the community, or the identity of an adapter. */
export function anIdentity() {
  const privateKey = Buffer.from(schnorr.utils.randomSecretKey()).toString('hex');
  const publicKey = publicKeyOf(privateKey);
  return {
    privateKey,
    publicKey,
    write: (channelId: string, content: string, fields: Partial<UnsignedEvent> = {}): CommunityEvent =>
      signEvent(
        {
          pubkey: publicKey,
          kind: 9,
          created_at: Math.floor(Date.now() / 1000),
          content,
          ...fields,
          tags: [['h', channelId], ...(fields.tags ?? [])],
        },
        privateKey,
      ),
  };
}

interface Filter {
  kinds?: number[];
  '#h'?: string[];
  since?: number;
  until?: number;
  limit?: number;
}

/** What becomes of the next event: as a relay documents it (NIP-01), or something else. */
export type Verdict =
  | { accepted: boolean; message: string }
  | { status: number; retryAfter?: string }
  | 'hang-up'
  | 'malformed'
  | 'silence';

/** A relay that speaks NIP-01, NIP-11 and NIP-42 on its WebSocket, and takes events and filters over HTTP with NIP-98. */
export async function startRelay({ name = 'Garden', authRequired = false } = {}) {
  const stored: CommunityEvent[] = [];
  /** Every event that arrived, again and again as well. */
  const arrived: CommunityEvent[] = [];
  const verdicts: Verdict[] = [];
  const authenticated: string[] = [];
  const state = { name, authRequired, onEvent: (): void => undefined };

  function take(event: CommunityEvent): Verdict {
    arrived.push(event);
    state.onEvent();
    const verdict = verdicts.shift();
    if (
      verdict !== undefined &&
      (verdict === 'malformed' ||
        verdict === 'hang-up' ||
        verdict === 'silence' ||
        !('accepted' in verdict) ||
        !verdict.accepted)
    ) {
      return verdict;
    }
    if (!isGenuine(event)) {
      return { accepted: false, message: 'invalid: bad signature' };
    }
    if (stored.some(({ id }) => id === event.id)) {
      return { accepted: true, message: 'duplicate: already have this event' };
    }
    stored.push(event);
    return { accepted: true, message: '' };
  }

  const find = ({ kinds, since = 0, until = Infinity, limit = 500, ...filter }: Filter): CommunityEvent[] =>
    stored
      .filter((event) => kinds?.includes(event.kind) ?? true)
      .filter((event) => filter['#h']?.includes(tagOf(event, 'h') ?? '') ?? true)
      .filter(({ created_at: at }) => at >= since && at <= until)
      .sort((a, b) => b.created_at - a.created_at)
      .slice(0, limit);

  /** Whether a request over HTTP is signed for its address, as NIP-98 has it. */
  function isSigned({ headers, url = '' }: IncomingMessage): boolean {
    const proof = /^Nostr (.+)$/.exec(headers.authorization ?? '')?.[1];
    if (proof === undefined) {
      return false;
    }
    const event = JSON.parse(Buffer.from(proof, 'base64').toString()) as CommunityEvent;
    authenticated.push(event.pubkey);
    return event.kind === 27_235 && isGenuine(event) && tagOf(event, 'u')?.endsWith(url) === true;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) {
      text += String(chunk);
    }
    const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    if (request.method === 'GET') {
      json(200, { name: state.name, software: 'test-relay', version: '1', supported_nips: [1, 11, 42] });
      return;
    }
    if (state.authRequired && !isSigned(request)) {
      json(401, { accepted: false, message: 'auth-required: sign the request' });
      return;
    }
    if (request.url === '/query') {
      json(200, find((JSON.parse(text) as Filter[])[0] ?? {}));
      return;
    }
    const verdict = take(JSON.parse(text) as CommunityEvent);
    if (verdict === 'silence') {
      return;
    }
    if (verdict === 'hang-up') {
      response.destroy();
    } else if (verdict === 'malformed') {
      response.writeHead(200).end('<html>');
    } else if ('status' in verdict) {
      json(verdict.status, {}, verdict.retryAfter === undefined ? {} : { 'retry-after': verdict.retryAfter });
    } else {
      json(200, { event_id: (JSON.parse(text) as CommunityEvent).id, ...verdict });
    }
  }

  function speak(socket: WebSocket): void {
    const challenge = randomBytes(8).toString('hex');
    let isKnown = !state.authRequired;
    const send = (...message: unknown[]): void => socket.send(JSON.stringify(message));
    send('AUTH', challenge);
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer) => {
      const [type, first, second] = JSON.parse(data.toString()) as [string, any, any]; // eslint-disable-line @typescript-eslint/no-explicit-any -- messages of every shape
      if (type === 'AUTH') {
        isKnown = isGenuine(first as CommunityEvent) && tagOf(first as CommunityEvent, 'challenge') === challenge;
        authenticated.push(String(first.pubkey));
        send('OK', first.id, isKnown, '');
      } else if (type === 'REQ' && !isKnown) {
        send('CLOSED', first, 'auth-required: who are you');
      } else if (type === 'REQ') {
        find(second as Filter).forEach((event) => send('EVENT', first, event));
        send('EOSE', first);
      } else if (type === 'EVENT' && !isKnown) {
        send('OK', first.id, false, 'auth-required: who are you');
      } else if (type === 'EVENT') {
        const verdict = take(first as CommunityEvent);
        if (verdict === 'silence') {
          return;
        }
        if (verdict === 'hang-up') {
          socket.terminate();
        } else if (verdict === 'malformed') {
          socket.send('not json');
          socket.terminate();
        } else if ('accepted' in verdict) {
          send('OK', first.id, verdict.accepted, verdict.message);
        }
      }
    });
  }

  const server = createServer((request, response) => void serve(request, response));
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', speak);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    httpUrl: `http://127.0.0.1:${port}`,
    webSocketUrl: `ws://127.0.0.1:${port}`,
    state,
    stored,
    arrived,
    authenticated,
    /** What becomes of the next events, one after the other. */
    judge: (...next: Verdict[]) => verdicts.push(...next),
    add: (...events: CommunityEvent[]) => stored.push(...events),
    async close() {
      sockets.clients.forEach((client) => client.terminate());
      sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type RelayServer = Awaited<ReturnType<typeof startRelay>>;
export const aChannelId = (): string => randomUUID();
export const idOf = eventId;
