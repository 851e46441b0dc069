import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './types';

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
}

/** The operations of the board by method and path, with the types of their parameters, bodies and responses. */
export type BoardClient = Client<paths>;

/** How often a request is sent again after its connection was lost. */
const maxRepetitions = 3;

/** Sends a request again when its connection was lost, if it may be repeated: a POST has a key by then. */
async function sendRepeatedly(request: Request): Promise<Response> {
  const mayRepeat = ['GET', 'POST'].includes(request.method);
  for (let repetitions = 0; ; repetitions += 1) {
    try {
      return await fetch(request.clone());
    } catch (error) {
      if (!mayRepeat || request.signal.aborted || repetitions === maxRepetitions) {
        throw error;
      }
    }
  }
}

/** Makes a client. Each POST has an `Idempotency-Key`, a new one unless the caller gives its own. */
export function createBoardClient({ url, key, headers }: BoardClientOptions): BoardClient {
  const client = createClient<paths>({
    baseUrl: url,
    headers: { ...headers, ...(key === undefined ? {} : { 'X-API-Key': key }) },
    fetch: sendRepeatedly,
  });
  client.use({
    onRequest({ request }) {
      if (request.method !== 'POST' || request.headers.has('Idempotency-Key')) {
        return;
      }
      request.headers.set('Idempotency-Key', crypto.randomUUID());
    },
  });
  return client;
}

interface Result {
  data?: unknown;
  error?: unknown;
  response: Response;
}

/** What a successful response holds; nothing for a 204. */
type Body<R extends Result> = [Exclude<R['data'], undefined>] extends [never]
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

const isRefusal = (body: unknown): body is Partial<Refusal> => typeof body === 'object' && body !== null;
