import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** A request that is refused before any middleware sees it. An `AppError` is one. */
export interface Refusal {
  status: number;
  code: string;
  message: string;
  details?: Record<string, unknown>;
}

/** The body of a refusal, in the envelope of the service that refuses. */
export type RefusalBody = (refusal: Refusal) => { type: string; body: string };

/** The envelope of the board (specification 1, Errors). */
export const boardRefusalBody: RefusalBody = ({ message, code, details = {} }) => ({
  type: 'application/json; charset=utf-8',
  body: JSON.stringify({ error: message, code, details }),
});

/** How long a refused connection may stay for its other side to read the refusal, in milliseconds. */
const lingerMs = 1_000;

const headersOf = (body: string, type: string): Record<string, string> => ({
  'Content-Type': type,
  'Content-Length': String(Buffer.byteLength(body)),
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  Connection: 'close',
});

/** Refuses a request that has no response yet. */
export function refuseRequest(response: ServerResponse, refusal: Refusal, format: RefusalBody): void {
  const { type, body } = format(refusal);
  response.writeHead(refusal.status, headersOf(body, type));
  response.end(body);
}

/**
 * Writes the refusal to a socket that no server's response belongs to, and ends it. Errors of the socket are its owner's to
 * listen for, before this is called.
 */
export function refuseSocket(
  socket: Duplex,
  refusal: Refusal,
  { format, headers = {} }: { format: RefusalBody; headers?: Record<string, string> },
): void {
  const { type, body } = format(refusal);
  const lines = Object.entries({ ...headersOf(body, type), ...headers }).map(([name, value]) => `${name}: ${value}`);
  const reason = STATUS_CODES[refusal.status] ?? 'Refused';
  // Ended, and not destroyed: a reset would discard the refusal before the client has read it.
  socket.end(`HTTP/1.1 ${refusal.status} ${reason}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  setTimeout(() => socket.destroy(), lingerMs).unref();
}
