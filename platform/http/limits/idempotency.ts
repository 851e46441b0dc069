import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type AppError, conflict, validationError } from '../../errors/app-error';
import { Operation, runOperation } from '../../operations/operation';
import type { HttpContext, RequestState } from '../context';
import { RawJson } from '../response';

/** The response to a request, as it is repeated to a caller that sends it again. */
export interface AnswerRecord {
  status: number;
  headers: Record<string, string>;
  /** JSON; absent for a response without a body. */
  body?: string;
}

/** A response that is sent as it was stored. */
export class StoredResponse {
  constructor(readonly record: AnswerRecord) {}
}

/** What becomes of a request that comes with a key. */
export type KeyClaim =
  | { state: 'claimed'; token: string; seed: Buffer; startedAt: Date; repeated: boolean }
  | { state: 'answered'; answer: AnswerRecord }
  | { state: 'under-way' }
  | { state: 'other-request' };

/** Where keys are reserved before anything is done under them. One claim holds a key at a time, as long as it is renewed. */
export interface IdempotencyKeys {
  claim(id: string, requestDigest: string): Promise<KeyClaim>;
  renew(id: string, token: string): Promise<void>;
  /** Stores the response and returns the one that is stored; `undefined` when the claim was lost and none is stored yet. */
  settle(id: string, token: string, answer: AnswerRecord): Promise<AnswerRecord | undefined>;
  /** Gives a claim up. `forget`: nothing was done under the key, which is as good as new. */
  release(id: string, token: string, options: { forget: boolean }): Promise<void>;
}

/** Names the traces of rules that warned of what was done. */
export const warningsHeader = 'X-Policy-Warnings';

const names = ['idempotency-key', 'x-idempotency-key'] as const;
const printable = /^[\x21-\x7e]{1,200}$/;
const renewEveryMs = 3_000;
/** Headers that belong to the response of a route, not to the single request. */
const storedHeaders = ['Location', 'ETag', 'X-Resource-Revision', 'Cache-Control', warningsHeader];

/**
 * The key of a request: `Idempotency-Key`, or `X-Idempotency-Key`, which means the same.
 *
 * @throws AppError 400 when the two differ
 */
export function presentedIdempotencyKey(header: (name: string) => string | undefined): string | undefined {
  const [key, older] = names.map(header);
  if (key !== undefined && older !== undefined && key !== older) {
    throw validationError([{ path: 'Idempotency-Key', message: 'differs from X-Idempotency-Key' }]);
  }
  return key ?? older;
}

/** @throws AppError 400 for a key that is not 1 to 200 printable ASCII characters without spaces */
export function idempotencyKeyOf(header: (name: string) => string | undefined): string | undefined {
  const key = presentedIdempotencyKey(header);
  if (key === undefined || printable.test(key)) {
    return key;
  }
  throw validationError([
    { path: 'Idempotency-Key', message: 'must be 1 to 200 printable ASCII characters without spaces' },
  ]);
}

/** Marks a response whose idempotency key had been used for the same request before. */
export const replayedHeader = 'Idempotency-Replayed';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** JSON whose objects have their fields in one order. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

interface SentFile {
  path: string;
  name: string;
  bytes: number;
}

const isFile = (value: unknown): value is SentFile =>
  typeof value === 'object' && value !== null && 'path' in value && 'truncated' in value;

async function fileDigest({ path, name, bytes }: SentFile): Promise<object> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk as Buffer);
  }
  return { name, bytes, sha256: hash.digest('hex') };
}

/** The body with the digests of its files instead of their temporary paths. */
async function withFileDigests(body: unknown): Promise<unknown> {
  if (typeof body !== 'object' || body === null) {
    return body;
  }
  const fields = await Promise.all(
    Object.entries(body).map(async ([name, value]: [string, unknown]) => [
      name,
      Array.isArray(value)
        ? await Promise.all(value.map((one: unknown) => (isFile(one) ? fileDigest(one) : one)))
        : value,
    ]),
  );
  return Object.fromEntries(fields) as unknown;
}

/** What is needed of the context of a request under a key. */
export interface KeyedContext {
  readonly state: Pick<RequestState, 'operation' | 'hasIdempotencyKey'>;
  readonly response: { get(header: string): string };
  readonly status: number;
}

/** A request under a key: who sends what to which route. */
export interface KeyedRequest {
  key: string;
  actor: string;
  operationId: string;
  params: unknown;
  query: unknown;
  body: unknown;
}

/**
 * Performs the request once, however often it comes, and sends the first response each time. The key is reserved before
 * anything is written, with the seed of every id: the repetition reads what a process did before it died, and ends it.
 *
 * @param perform sets status and headers, and resolves with the body
 * @throws AppError 409 `IDEMPOTENCY_KEY_REUSED` for another request, `IDEMPOTENCY_KEY_IN_USE` while the first one is under way
 */
export async function answerOnce(
  ctx: KeyedContext,
  { keys, key, actor, operationId, params, query, body }: KeyedRequest & { keys: IdempotencyKeys },
  perform: () => Promise<unknown>,
): Promise<StoredResponse> {
  const id = sha256(canonical([actor, operationId, params ?? null, key]));
  const claim = await keys.claim(id, sha256(canonical([query ?? null, (await withFileDigests(body)) ?? null])));
  if (claim.state === 'answered') {
    return replayed(claim.answer);
  }
  if (claim.state === 'other-request') {
    const message = 'The Idempotency-Key belongs to another of your requests: repeat that one, or use a new key.';
    throw conflict(message, {}, 'IDEMPOTENCY_KEY_REUSED');
  }
  if (claim.state === 'under-way') {
    throw underWay();
  }
  const { token } = claim;
  const operation = new Operation({ ...claim, keyed: true });
  ctx.state.operation = operation;
  ctx.state.hasIdempotencyKey = true;
  const renewing = setInterval(() => void keys.renew(id, token).catch(() => undefined), renewEveryMs).unref();
  try {
    const result = await runOperation(operation, perform);
    const stands = await keys.settle(id, token, answerOf(ctx, result));
    if (!stands) {
      throw underWay();
    }
    return new StoredResponse(stands);
  } catch (error) {
    const forget = !operation.repeated && !operation.mayHaveWritten;
    // A claim that cannot be released now expires once it is not renewed any more.
    await keys.release(id, token, { forget }).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(renewing);
  }
}

/** Runs a change without a key: a failure still reports whether anything may have been written. */
export function answerPlainly(ctx: HttpContext, perform: () => Promise<unknown>): Promise<unknown> {
  const operation = new Operation({ seed: randomBytes(32), startedAt: new Date(), repeated: false });
  ctx.state.operation = operation;
  return runOperation(operation, perform);
}

function underWay(): AppError {
  const message = 'The first request with this Idempotency-Key is still in progress. Send it again in a moment.';
  return conflict(message, { retryAfterMs: 1_000 }, 'IDEMPOTENCY_KEY_IN_USE');
}

const replayed = (answer: AnswerRecord): StoredResponse =>
  new StoredResponse({ ...answer, headers: { ...answer.headers, [replayedHeader]: 'true' } });

function answerOf(ctx: KeyedContext, result: unknown): AnswerRecord {
  const headers: Record<string, string> = {};
  for (const name of storedHeaders) {
    if (ctx.response.get(name)) {
      headers[name] = ctx.response.get(name);
    }
  }
  if (result === undefined) {
    return { status: ctx.status, headers };
  }
  return {
    status: ctx.status,
    headers,
    body: result instanceof RawJson ? result.bytes.toString() : JSON.stringify(result),
  };
}

/** Sends a stored response. */
export function sendStored(
  ctx: Pick<HttpContext, 'set' | 'body' | 'status'>,
  { record: { status, headers, body } }: StoredResponse,
): void {
  ctx.set(headers);
  if (body !== undefined) {
    ctx.set('Content-Type', 'application/json; charset=utf-8');
    ctx.body = Buffer.from(body);
  }
  ctx.status = status;
}
