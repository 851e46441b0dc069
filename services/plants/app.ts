import { createHash, timingSafeEqual } from 'node:crypto';
import { Readable } from 'node:stream';
import Router from '@koa/router';
import Koa, { type ParameterizedContext } from 'koa';
import { koaBody } from 'koa-body';
import type { z } from 'zod';
import { AppError, type FieldIssue } from '../../platform/errors/app-error';
import type { AuthFailures } from '../../platform/http/auth/auth-failures';
import type { RequestState } from '../../platform/http/context';
import { answerOnce, idempotencyKeyOf, type IdempotencyKeys, sendStored } from '../../platform/http/limits/idempotency';
import { standingHeaders } from '../../platform/http/limits/rate-limit';
import { requestSpan } from '../../platform/http/request-span';
import { RawJson } from '../../platform/http/response';
import type { RefusalBody } from '../../platform/http/server/raw-refusal';
import { compact } from '../../platform/json/compact';
import { exactJson, parseExactJson } from '../../platform/json/exact';
import { InvalidUtf8Error, utf8Text } from '../../platform/json/utf8';
import type { Log } from '../../platform/log/log';
import { deliveryCursor, deliveryCursorAt } from './delivery-cursor';
import { plantsOpenApi } from './openapi';
import { idInPath, limitInQuery, type NewPlant, newPlant } from './plant';
import { type PlantStore, usualDeliveries } from './store';

export interface PlantAppDependencies {
  store: PlantStore;
  /** Who may call, each with a token of their own. */
  users: readonly { user: string; token: string }[];
  /** Stores a plant and schedules its announcement; `false` when its number is taken. */
  create: (user: string, plant: NewPlant) => Promise<boolean>;
  /** Keys of requests that are answered once, however often they come. */
  idempotencyKeys: IdempotencyKeys;
  log: Log;
  authFailures: AuthFailures;
}

interface State extends Pick<RequestState, 'operation' | 'hasIdempotencyKey'> {
  user: string;
}

/** An error of the client, or an operation that is not possible now, as a response. */
export class PlantError extends Error {
  override readonly name = 'PlantError';

  constructor(
    readonly status: 400 | 401 | 404 | 405 | 429 | 503,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const bodyLimit = '1mb';

const readText = koaBody({
  json: false,
  urlencoded: false,
  multipart: false,
  text: true,
  textTypes: ['application/json', '+json'],
  textLimit: bodyLimit,
  // One character per byte: a decoder would replace invalid ones by others.
  encoding: 'binary',
});

/** Whatever stops the reading, such as bytes that cannot be unpacked, is in what the caller has sent. */
const readBody: Koa.Middleware<State> = async (ctx, next) => {
  try {
    await readText(ctx, () => Promise.resolve());
  } catch (error) {
    const isTooLarge = (error as { status?: unknown }).status === 413;
    throw new PlantError(400, isTooLarge ? `A plant can have at most ${bodyLimit}.` : 'The body cannot be read.');
  }
  await next();
};

/** The envelope for what is refused before any middleware. */
export const plantRefusalBody: RefusalBody = ({ status, message }) => ({
  type: 'application/json; charset=utf-8',
  body: exactJson({ error: status, message }),
});

/** The schema's value, or a 400 that names the wrong field. */
function parsed<T extends z.ZodType>(schema: T, value: unknown, name: string): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) {
    return result.data;
  }
  const problems = result.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => `${key}: unknown field`)
      : [`${issue.path.join('.') || name}: ${issue.message}`],
  );
  throw new PlantError(400, problems.join('; '));
}

/** Refuses parameters of the query that an operation does not have: a caller that sends one expects something of it. */
const onlyParameters =
  (...names: string[]): Koa.Middleware<State> =>
  (ctx, next) => {
    const unknown = Object.keys(ctx.query).filter((name) => !names.includes(name));
    if (unknown.length > 0) {
      throw new PlantError(400, unknown.map((name) => `${name}: unknown parameter`).join('; '));
    }
    return next();
  };

function bodyOf(text: unknown): unknown {
  if (typeof text !== 'string') {
    throw new PlantError(400, 'Send the plant as application/json.');
  }
  try {
    return parseExactJson(utf8Text(Buffer.from(text, 'latin1')));
  } catch (error) {
    throw new PlantError(400, error instanceof InvalidUtf8Error ? error.message : 'The body is not JSON.');
  }
}

/** Links the next page of a list in the headers (RFC 8288). */
function linkNext(ctx: ParameterizedContext, limit: unknown, cursor: string): void {
  const following = new URLSearchParams({ ...(typeof limit === 'string' && { limit }), cursor });
  ctx.set('X-Next-Cursor', cursor);
  ctx.set('Link', `<${ctx.path}?${following.toString()}>; rel="next"`);
}

/** A JSON array of all that the batches hold, as text, a batch at a time. */
async function* arrayText(batches: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  let separator = '[';
  for await (const batch of batches) {
    if (batch.length > 0) {
      yield separator + batch.map((item) => exactJson(item)).join(',');
      separator = ',';
    }
  }
  yield separator === '[' ? '[]' : ']';
}

/** The same, whose first piece has been read: what fails before it is still answered with a status. */
async function begun(pieces: AsyncGenerator<string>): Promise<AsyncIterable<string>> {
  const first = await pieces.next();
  return (async function* () {
    if (first.done !== true) {
      yield first.value;
      yield* pieces;
    }
  })();
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The API of the plant store (specification 3, A). */
export function createPlantApp({
  store,
  users,
  create,
  idempotencyKeys: keys,
  log,
  authFailures,
}: PlantAppDependencies): Koa<State> {
  const app = new Koa<State>();
  const credentials = users.map(({ user, token }) => ({ user, digest: sha256(token) }));
  const document = plantsOpenApi();

  app.on('error', (error: unknown) => log.debug({ err: error }, 'connection ended early'));

  app.use(requestSpan());
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const { status, message, retryAfterMs } = refusalOf(error, log);
      ctx.status = status;
      ctx.type = 'application/json';
      if (status === 401) {
        ctx.set('WWW-Authenticate', 'Bearer');
      }
      if (retryAfterMs !== undefined) {
        ctx.set('Retry-After', String(Math.ceil(retryAfterMs / 1000)));
      }
      ctx.body = exactJson({ error: status, message });
    }
  });

  const open = new Router<State>({ sensitive: true });
  open.get('/openapi.json', (ctx) => {
    ctx.body = document;
  });
  open.get('/health', (ctx) => {
    ctx.body = { ok: true };
  });

  const router = new Router<State>({ sensitive: true });
  router.get('/plants', onlyParameters('limit', 'cursor'), async (ctx) => {
    const { limit, cursor } = ctx.query;
    const { batches, next } = await store.list(ctx.state.user, {
      limit: limit === undefined ? undefined : parsed(limitInQuery, limit, 'limit'),
      after: cursor === undefined ? undefined : parsed(idInPath, cursor, 'cursor'),
    });
    const body = await begun(arrayText(batches));
    // The array is the specification's, so the next page is in the headers.
    if (next !== undefined) {
      linkNext(ctx, limit, String(next));
    }
    ctx.type = 'application/json';
    ctx.body = Readable.from(body);
  });
  router.post('/plants', onlyParameters(), readBody, async (ctx) => {
    const { user } = ctx.state;
    const key = idempotencyKeyOf((name) => (ctx.headers[name] === undefined ? undefined : ctx.get(name)));
    const plant = parsed(newPlant, bodyOf(ctx.request.body), 'plant');
    const perform = async (): Promise<RawJson> => {
      if (!(await create(user, plant))) {
        throw new PlantError(400, `The plant ${plant.id} already exists.`);
      }
      ctx.status = 200;
      return new RawJson(Buffer.from(exactJson(plant)));
    };
    if (key === undefined) {
      ctx.type = 'application/json';
      ctx.body = (await perform()).bytes.toString();
      return;
    }
    const body = { ...plant, id: String(plant.id) };
    const request = { key, actor: user, operationId: 'createPlant', params: {}, query: {}, body };
    sendStored(ctx, await answerOnce(ctx, { keys, ...request }, perform));
  });
  router.delete('/plants/:id', onlyParameters(), async (ctx) => {
    const id = parsed(idInPath, ctx.params.id, 'id');
    if (!(await store.remove(ctx.state.user, id, new Date()))) {
      throw new PlantError(400, `No plant has the id ${id}.`);
    }
    ctx.status = 204;
  });
  // Beyond the specification: the deliveries to receivers, for their operators.
  router.get('/plant/webhook/deliveries', onlyParameters('limit', 'cursor'), async (ctx) => {
    const { limit, cursor } = ctx.query;
    const { items, next } = await store.deliveries(ctx.state.user, {
      limit: limit === undefined ? usualDeliveries : parsed(limitInQuery, limit, 'limit'),
      cursor: cursor === undefined ? undefined : parsed(deliveryCursor, cursor, 'cursor'),
    });
    const nextCursor = next && deliveryCursorAt(next);
    if (nextCursor !== undefined) {
      linkNext(ctx, limit, nextCursor);
    }
    ctx.body = { deliveries: items, ...compact({ nextCursor }) };
  });

  app.use(open.routes());
  app.use(async (ctx, next) => {
    ctx.state.user = authenticate(ctx);
    await next();
  });
  app.use(router.routes());
  app.use((ctx) => {
    const methods = new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods));
    if (methods.size === 0) {
      throw new PlantError(404, 'No route exists at this path.');
    }
    ctx.set('Allow', [...methods].sort().join(', '));
    throw new PlantError(405, `${ctx.method} is not for this path.`);
  });
  return app;

  /** Compares with every token, so that the time it takes does not reveal which one was close. */
  function userOf(authorization: string): string | undefined {
    const digest = sha256(/^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '');
    let user: string | undefined;
    for (const candidate of credentials) {
      if (timingSafeEqual(digest, candidate.digest)) {
        user ??= candidate.user;
      }
    }
    return user;
  }

  /** Who calls. @throws PlantError 401, and 429 when its address has failed too often */
  function authenticate(ctx: ParameterizedContext<State>): string {
    const authorization = ctx.get('authorization');
    const user = userOf(authorization);
    if (user !== undefined) {
      return user;
    }
    const standing = authFailures.record(ctx.req, { via: 'http', presented: authorization !== '' });
    if (standing.allowed) {
      throw new PlantError(401, 'A bearer token is required.');
    }
    ctx.set(standingHeaders(standing, Date.now()));
    throw new PlantError(429, 'Too many failed authentications. Try again later.');
  }
}

interface PlantRefusal {
  status: number;
  message: string;
  retryAfterMs?: number;
}

/** What the shared helpers refuse: the message names the fields, for which this envelope has no place of its own. */
function sharedRefusal({ status, message, details: { issues, retryAfterMs } }: AppError): PlantRefusal {
  const named = Array.isArray(issues)
    ? (issues as FieldIssue[]).map(({ path, message: what }) => `${path} ${what}`)
    : [];
  return {
    status,
    message: named.length > 0 ? `${named.join('; ')}.` : message,
    ...compact({ retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : undefined }),
  };
}

/** The error as the caller receives it; an unexpected one is logged and loses its details. */
function refusalOf(error: unknown, log: Log): PlantRefusal {
  if (error instanceof AppError) {
    return sharedRefusal(error);
  }
  if (error instanceof PlantError) {
    if (error.cause !== undefined) {
      log.warn({ err: error.cause }, error.message);
    }
    return error;
  }
  log.error({ err: error }, 'request failed');
  return { status: 500, message: 'An internal error occurred.' };
}
