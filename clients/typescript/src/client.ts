import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './types';
import { wait } from './wait';

/** What the board says of a request that it refuses. */
export type Refusal = components['schemas']['Error'];

/** A request that the board refused. */
export class BoardError extends Error {
  override readonly name = 'BoardError';
  /** Tells refusals apart, e.g. `TASK_NOT_FOUND`; a proxy before the board gives none. */
  readonly code: string | undefined;
  readonly details: Refusal['details'];

  constructor(
    readonly status: number,
    refusal: Partial<Refusal> | undefined,
  ) {
    super(refusal?.error ?? `The board answered ${status}.`);
    this.code = refusal?.code;
    this.details = refusal?.details ?? {};
  }
}

export interface BoardClientOptions {
  /** Where the API is, e.g. `http://127.0.0.1:3001`. */
  url: string;
  /** The API key; none where authentication is off. */
  key?: string;
  /** Sent with every request. */
  headers?: Record<string, string>;
  /** How requests are sent: by the `fetch` of the platform when absent. */
  fetch?: (request: Request) => Promise<Response>;
  /**
   * How long a refusal for load or a short absence (429, 503) may ask to wait, by its `Retry-After`, in milliseconds: the request is then
   * sent again, if it may be. None is waited for when absent.
   */
  maxRetryAfterMs?: number;
}

/** The operations of the board by method and path, with the types of their parameters, bodies and responses. */
export type BoardClient = Client<paths>;

/** How often a request is sent again after its connection was lost. */
const maxRepetitions = 3;

/** How long a response asks to wait before the request is sent again; nothing when it does not, or for too long. */
function retryAfterOf({ status, headers }: Response, maxMs: number): number | undefined {
  const seconds = headers.get('Retry-After');
  if (![429, 503].includes(status) || seconds === null || !/^\d+$/.test(seconds)) {
    return undefined;
  }
  return Number(seconds) * 1_000 <= maxMs ? Number(seconds) * 1_000 : undefined;
}

/** Sends a request again when its connection was lost or it is to wait, if it may be repeated: a POST has a key by then. */
async function sendRepeatedly(
  request: Request,
  send: (request: Request) => Promise<Response>,
  maxRetryAfterMs: number,
): Promise<Response> {
  const mayRepeat = ['GET', 'POST'].includes(request.method);
  for (let repetitions = 0; ; repetitions += 1) {
    try {
      const response = await send(request.clone());
      const waitMs = mayRepeat && repetitions < maxRepetitions ? retryAfterOf(response, maxRetryAfterMs) : undefined;
      if (waitMs === undefined) {
        return response;
      }
      await wait(waitMs, request.signal);
    } catch (error) {
      if (!mayRepeat || request.signal.aborted || repetitions === maxRepetitions) {
        throw error;
      }
    }
  }
}

/** The key in the body of a request; one in a header would win over it. */
async function keyInBody(request: Request): Promise<string | undefined> {
  if (!request.headers.get('Content-Type')?.startsWith('application/json')) {
    return undefined;
  }
  const text = await request.clone().text();
  const key: unknown = text.includes('"idempotencyKey"')
    ? (JSON.parse(text) as Record<string, unknown>).idempotencyKey
    : undefined;
  return typeof key === 'string' ? key : undefined;
}

const textTypes = /^(?:text\/|application\/yaml\b|image\/svg\+xml\b)/;

/**
 * A response that is a text, with the text as a JSON string: openapi-fetch reads every response as JSON unless the request
 * states `parseAs`, and cannot choose by what came.
 */
async function textAsJson(response: Response): Promise<Response | undefined> {
  const { ok, status, statusText } = response;
  if (!ok || status === 204 || !textTypes.test(response.headers.get('Content-Type') ?? '')) {
    return undefined;
  }
  const headers = new Headers(response.headers);
  // It is the length of the text without its quotes.
  headers.delete('Content-Length');
  return new Response(JSON.stringify(await response.text()), { status, statusText, headers });
}

/** Makes a client. Each POST has an `Idempotency-Key`: that of its header or body, or a new one. */
export function createBoardClient(options: BoardClientOptions): BoardClient {
  const { url, key, headers, fetch: send = fetch, maxRetryAfterMs = -1 } = options;
  const client = createClient<paths>({
    baseUrl: url,
    headers: { ...headers, ...(key === undefined ? {} : { 'X-API-Key': key }) },
    fetch: (request) => sendRepeatedly(request, send, maxRetryAfterMs),
  });
  client.use({
    async onRequest({ request }) {
      if (request.method !== 'POST' || request.headers.has('Idempotency-Key')) {
        return;
      }
      request.headers.set('Idempotency-Key', (await keyInBody(request)) ?? crypto.randomUUID());
    },
    onResponse: ({ request, response, options: { parseAs } }) =>
      parseAs === 'json' && request.method !== 'HEAD' ? textAsJson(response) : undefined,
  });
  return client;
}

/** How a request resolves. */
export interface Result {
  data?: unknown;
  error?: unknown;
  response: Response;
}

/** What a successful response holds; nothing for a 204. */
export type Body<R extends Result> = [Exclude<R['data'], undefined>] extends [never]
  ? undefined
  : Exclude<R['data'], undefined>;

/**
 * The body of a response.
 *
 * @throws BoardError when the board refused the request
 */
export async function unwrap<R extends Result>(request: Promise<R>): Promise<Body<R>> {
  const { data, error, response } = await request;
  if (!response.ok) {
    throw new BoardError(response.status, isRefusal(error) ? error : undefined);
  }
  return data as Body<R>;
}

interface Issue {
  path?: unknown;
  message?: unknown;
}

/** A refusal for people and models: what was refused, with the fields it names, and what to do next if the board states it. */
export function refusalText({ message, details }: BoardError): { message: string; remedy: string | undefined } {
  const { issues, next } = details as Record<string, unknown>;
  const fields = Array.isArray(issues)
    ? (issues as Issue[]).map(({ path, message: problem }) => `${String(path)}: ${String(problem)}`).join('; ')
    : '';
  const hasRemedy = typeof next === 'object' && next !== null && 'remedy' in next;
  return {
    message: fields === '' ? message : `${message}: ${fields}`,
    remedy: hasRemedy ? String(next.remedy) : undefined,
  };
}

const isRefusal = (body: unknown): body is Partial<Refusal> => typeof body === 'object' && body !== null;
