import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { pipeline } from 'node:stream';
import { inRequestSpan } from '../../../platform/http/request-span';
import type { Log } from '../../../platform/log/log';
import { isTracing } from '../../../platform/tracing/spans';
import { isLarge } from '../answers/json';
import type { Answer } from '../query/result';
import { queryText } from './body';
import { findIndex, type ServerContext } from './context';
import type { Gate } from './gate';
import { answerStream, answerText, executeOrRefuse, queryLimit } from './query-routes';
import { internalError, jsonType, Refusal, refusalReply, type WireReply } from './reply';

const queryPath = /^\/index\/([a-z0-9_-]+)\/query$/;
const route = '/index/:index/query';
const plainOptions = {};

/**
 * The index that a request asks about, if it is a query as nearly every client sends it: a text of known length, to be
 * returned as JSON, with nothing in the query string. Everything else has more to be decided, and refused, than is here.
 */
function plainQuery({ method, url = '', headers }: IncomingMessage, bodyLimit: number): string | undefined {
  const { accept, 'content-type': type, 'content-length': length } = headers;
  if (method !== 'POST' || length === undefined || Number(length) > bodyLimit) {
    return undefined;
  }
  if (headers['content-encoding'] !== undefined || type?.includes('protobuf') === true) {
    return undefined;
  }
  if (accept !== undefined && accept !== '*/*' && accept !== 'application/json') {
    return undefined;
  }
  return queryPath.exec(url)?.[1];
}

export interface QuickQueryOptions extends ServerContext {
  log: Log;
  gate: Gate;
}

/**
 * Answers plain queries without the middleware, which costs several times what a query does. Its responses are what the
 * route would send.
 *
 * @returns a handler that returns whether it took the request
 */
export function quickQueries(
  options: QuickQueryOptions,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const limit = queryLimit(options.bodyLimit);
  const isTraced = isTracing();
  return (request, response) => {
    const name = plainQuery(request, limit);
    if (name === undefined) {
      return false;
    }
    const query = { name, request, response, started: performance.now() };
    if (isTraced) {
      void inRequestSpan(request, () => serveTraced(options, query));
    } else {
      admit(options, query, (body) => void answer(options, query, body));
    }
    return true;
  };
}

interface Query {
  /** The name of the index. */
  name: string;
  request: IncomingMessage;
  response: ServerResponse;
  started: number;
}

/** Reads the body of a query that the gate lets in. By callbacks: promises for it would cost a tenth of a small query. */
function admit(
  { gate }: QuickQueryOptions,
  { request, response }: Query,
  whole: (body: Buffer) => void,
): Refusal | undefined {
  const refusal = gate(request);
  if (refusal) {
    refuse(response, refusal);
    return refusal;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => whole(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
  return undefined;
}

/** @returns what its span has of it */
async function serveTraced(options: QuickQueryOptions, query: Query) {
  const came = await new Promise<Buffer | Refusal | undefined>((resolve) => {
    query.request.once('close', () => resolve(undefined));
    const refusal = admit(options, query, resolve);
    if (refusal) {
      resolve(refusal);
    }
  });
  if (came instanceof Refusal) {
    return { status: came.status };
  }
  // The caller may have left before all of it was sent.
  return came ? { route, status: await answer(options, query, came) } : { route };
}

/** @returns the status of the response */
async function answer(
  { store, metrics, log, threads, slices, limits }: QuickQueryOptions,
  { name, response, started }: Query,
  body: Buffer,
): Promise<number> {
  let status = 200;
  try {
    const { catalog } = store;
    const index = findIndex(catalog, name, { form: 'error', status: 400 });
    let result: Answer;
    try {
      const answered = executeOrRefuse(
        { threads, slices, limits, catalog, index, options: plainOptions, form: 'error' },
        queryText(body, 'error'),
      );
      result = answered instanceof Promise ? await answered : answered;
    } finally {
      // Also what was written before a call failed.
      if (store.hasUncommitted) {
        await store.commit();
      }
    }
    sendAnswer(response, result, log);
  } catch (error) {
    if (!(error instanceof Refusal)) {
      log.error({ err: error, path: response.req.url }, 'request failed');
    }
    const reply = refusalReply(error instanceof Refusal ? error : internalError());
    ({ status } = reply);
    send(response, reply);
  }
  metrics.observe({ method: 'POST', route, status, seconds: (performance.now() - started) / 1000 });
  return status;
}

/** The caller may have gone away while its write was made durable. */
const isGone = ({ destroyed, socket }: ServerResponse): boolean => destroyed || socket?.writable !== true;

function send(response: ServerResponse, { status, type, body }: WireReply, headers?: Record<string, string>): void {
  if (isGone(response)) {
    return;
  }
  const length = Buffer.byteLength(body);
  response.writeHead(status, STATUS_CODES[status], { ...headers, 'Content-Type': type, 'Content-Length': length });
  response.end(body);
}

const refuse = (response: ServerResponse, refusal: Refusal): void =>
  send(response, refusalReply(refusal), refusal.headers);

function sendAnswer(response: ServerResponse, answer: Answer, log: Log): void {
  if (!isLarge(answer)) {
    return send(response, { status: 200, type: jsonType, body: answerText(answer) });
  }
  if (isGone(response)) {
    return;
  }
  response.writeHead(200, { 'Content-Type': jsonType });
  pipeline(answerStream(answer), response, (error) => {
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE' && error.code !== 'ECONNRESET' && error.code !== 'EPIPE') {
      log.error({ err: error }, 'response send failed');
    }
  });
}
