import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Log } from '../../log/log';
import { type Refusal, type RefusalBody, refuseRequest, refuseSocket } from './raw-refusal';

/** Refusals of what Node's parser refuses, by the code of its error; anything else is malformed. */
const refusals: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'HEADERS_TOO_LARGE', message: 'The headers are too large.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, code: 'PAYLOAD_TOO_LARGE', message: 'Chunk extensions are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'REQUEST_TIMEOUT', message: 'The request was not sent in time.' },
};
const malformed: Refusal = { status: 400, code: 'BAD_REQUEST', message: 'The request is not well-formed HTTP.' };
const noTunnels: Refusal = {
  status: 405,
  code: 'METHOD_NOT_ALLOWED',
  message: 'This server does not support CONNECT.',
};
const noExpectation: Refusal = {
  status: 417,
  code: 'EXPECTATION_FAILED',
  message: 'The only supported expectation is 100-continue.',
};

/** Responses that have not ended, for each connection. */
export type OpenResponses = WeakMap<Duplex, Set<ServerResponse>>;

/**
 * Handles everything that a connection can do besides sending well-formed requests, so that none of it is an uncaught error:
 * resets at any moment, also after an upgrade, bytes that are no HTTP, tunnels.
 */
export function guardSockets(
  server: Server,
  { open, format, log }: { open: OpenResponses; format: RefusalBody; log?: Log },
): void {
  const refused = new WeakSet<Duplex>();
  // Stays for as long as the socket: Node takes its own listener away with an upgrade.
  server.on('connection', (socket) => socket.on('error', (err) => log?.debug({ err }, 'connection failed')));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (refused.has(socket)) {
      return;
    }
    refused.add(socket);
    const isAnswered = [...(open.get(socket) ?? [])].some(({ headersSent }) => headersSent);
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswered) {
      socket.destroy();
      return;
    }
    refuseSocket(socket, refusals[error.code ?? ''] ?? malformed, { format });
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => refuseSocket(socket, noTunnels, { format }));
  server.on('checkExpectation', (_request, response) => refuseRequest(response, noExpectation, format));
}
