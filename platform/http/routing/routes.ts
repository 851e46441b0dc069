import type { IncomingHttpHeaders } from 'node:http';
import type { Router } from '@koa/router';
import type { z } from 'zod';
import { AppError } from '../../errors/app-error';
import { currentOperation } from '../../operations/operation';
import { type AuthContext, type Authenticate, localWorkspaceId } from '../auth/auth';
import { type AuthFailures, recordHttpFailure } from '../auth/auth-failures';
import { assertOwnPage, authorize } from '../auth/authorize';
import { presentsKey } from '../auth/credentials';
import { assertMayRunAgents } from '../auth/local-agent';
import { readJsonBody } from '../body/body';
import { receiveForm } from '../body/multipart';
import { readRawBody } from '../body/raw-body';
import type { UploadFolder } from '../body/upload-folder';
import { type HttpContext, isReadMethod, type RequestState } from '../context';
import {
  answerOnce,
  answerPlainly,
  idempotencyKeyOf,
  replayedHeader,
  StoredResponse,
  warningsHeader,
} from '../limits/idempotency';
import { nameWorkspaceInTag, readOwnTags } from '../limits/workspace-tags';
import { assertCursor, type ListRequest, toListResponse } from '../list-response';
import { profiledRequest } from '../reply-profile';
import { BytesResponse, RawJson } from '../response';
import { announceDeprecation } from './deprecation';
import {
  fullPath,
  type HandleCredential,
  idempotencyOf,
  type RouteContract,
  type RouteHandler,
  type RouteInput,
} from './route-contract';
import { sendResult } from './send-result';
import { bySpecificity } from './specificity';
import { emptyBody, emptyQuery, parseOrRefuse } from './validation';
import type { ServedOperation, WorkspaceDependencies, Workspaces } from './workspaces';

/** Identifies the agent that presents a handle. */
export interface HandleAuthenticator {
  presented: (headers: IncomingHttpHeaders) => boolean;
  authenticate: (headers: IncomingHttpHeaders) => Promise<AuthContext | undefined>;
}

export interface RouteDependencies extends WorkspaceDependencies {
  authenticate: Authenticate;
  authFailures: AuthFailures;
  /** Identify the agents that present handles of their attempts; without them, handles are not accepted. */
  handles?: Readonly<Record<HandleCredential, HandleAuthenticator>>;
  /** Where files are stored that come with requests; needed where a contract takes some. */
  uploads?: UploadFolder;
  /** Whether responses are checked against `response`: for development and tests. */
  checkResponses: boolean;
  /** Where there are workspaces with records of their own; all callers are served alike when absent. */
  workspaces?: Workspaces;
  /** Sets headers that follow from a response, where a service pages its lists in another way than by cursors. */
  setHeaders?: (ctx: HttpContext, request: ListRequest, result: unknown) => void;
  /** Rejects when nothing can be written now, before anything of a change is. */
  assertWritable?: () => Promise<void>;
}

export interface Routes {
  /** @throws Error when the operation id, or the method and path, are taken */
  add<
    P extends z.ZodType = z.ZodUndefined,
    Q extends z.ZodType = z.ZodUndefined,
    B extends z.ZodType = z.ZodUndefined,
    R extends z.ZodType = z.ZodUndefined,
  >(
    contract: RouteContract<P, Q, B, R>,
    handler: RouteHandler<P, Q, B, R>,
  ): void;
  readonly contracts: readonly RouteContract[];
  /** The entry of an operation. */
  find(operationId: string): RouteEntry | undefined;
  /** Registers every route, the more specific paths first. */
  install(router: Router<RequestState>, deps: RouteDependencies): void;
}

/** An operation, and what serves it. */
export interface RouteEntry {
  contract: RouteContract;
  handle: (input: RouteInput<unknown, unknown, unknown>, ctx: HttpContext) => Promise<unknown>;
}

export function createRoutes(): Routes {
  const entries = new Map<string, RouteEntry>();
  const byPath = new Map<string, string>();
  return {
    add(contract, handler) {
      const { operationId, method } = contract;
      const path = `${method} ${fullPath(contract)}`;
      const taken = entries.has(operationId) ? operationId : byPath.get(path);
      if (taken !== undefined) {
        throw new Error(`${operationId} is declared twice, or has the path of ${taken}.`);
      }
      byPath.set(path, operationId);
      // The input is parsed with this contract's schemas, so the handler's types hold; a list of routes loses them.
      entries.set(operationId, { contract, handle: handler as RouteEntry['handle'] });
    },
    get contracts() {
      return [...entries.values()].map(({ contract }) => contract);
    },
    find: (operationId) => entries.get(operationId),
    install(router, deps) {
      const sorted = [...entries.values()].sort((a, b) => bySpecificity(fullPath(a.contract), fullPath(b.contract)));
      for (const entry of sorted) {
        const { method, deprecated } = entry.contract;
        router[method](fullPath(entry.contract), (ctx) =>
          deprecated
            ? // Refusals too come from a route that will be removed.
              answer(entry, ctx, deps).finally(() => announceDeprecation(ctx, deprecated))
            : answer(entry, ctx, deps),
        );
      }
    },
  };
}

/** The anonymous caller: what a `public` route gets for a caller without a key. */
const anonymous: AuthContext = {
  role: 'read-only',
  userId: 'anonymous',
  workspaceId: localWorkspaceId,
  actorType: 'user',
  authMethod: 'none',
  tokenName: 'anonymous',
  permissions: [],
  actor: 'user:anonymous',
};

async function answer(entry: RouteEntry, ctx: HttpContext, deps: RouteDependencies): Promise<void> {
  const { permission, operationId, workspaceParam } = entry.contract;
  const entered = admit(entry.contract, await callerOf(entry.contract, ctx, deps), { ctx, deps });
  const auth = entered instanceof Promise ? await entered : entered;
  const { params = {} } = ctx as { params?: Record<string, string> };
  const named = workspaceParam === undefined ? undefined : params[workspaceParam];
  const whose = permission === 'public' ? named : auth.workspaceId;
  const elsewhere =
    whose === undefined
      ? undefined
      : deps.workspaces?.serve(whose === auth.workspaceId ? auth : { ...auth, workspaceId: whose }, operationId);
  return perform(elsewhere ? await elsewhere : entry, auth, { ctx, deps });
}

/** Who calls, in which workspace. @throws AppError for a caller who may not do this */
function admit(
  contract: RouteContract,
  caller: AuthContext | undefined,
  { ctx, deps }: { ctx: HttpContext; deps: RouteDependencies },
): AuthContext | Promise<AuthContext> {
  if (!caller) {
    const presented = presentsCredential(contract, ctx, deps);
    // A wrong key is one on a public route too, which would reveal whether a guess was right.
    if (presented || contract.permission !== 'public') {
      recordHttpFailure(deps.authFailures, ctx, presented);
    }
  }
  if (contract.permission !== 'public' || !isReadMethod(ctx.method)) {
    assertOwnPage(caller, { method: ctx.method, headers: ctx.req.headers });
  }
  if (contract.permission === 'public') {
    return caller ?? anonymous;
  }
  const auth = authorize(caller, contract.permission, {
    method: ctx.method,
    credential: contract.credential,
    ownAccount: contract.ownAccount,
    relays: contract.relays,
  });
  if (contract.localAgent) {
    assertMayRunAgents(auth, { headers: ctx.req.headers, connection: ctx.req.socket });
  }
  return deps.workspaces ? deps.workspaces.enter(auth, ctx.req.headers) : auth;
}

/** Serves a request of a caller who may send it, on the records of its workspace. */
async function perform(
  { contract, handle, ...served }: RouteEntry | ServedOperation,
  auth: AuthContext,
  { ctx, deps }: { ctx: HttpContext; deps: RouteDependencies },
): Promise<void> {
  const { audit, isTurnedOn, idempotencyKeys, profile }: WorkspaceDependencies = 'audit' in served ? served : deps;
  if (contract.setting !== undefined && isTurnedOn) {
    await assertTurnedOn(contract.setting, isTurnedOn);
  }
  const params = contract.params && parseOrRefuse(contract.params, (ctx as { params?: unknown }).params);
  const { operationId } = contract;
  const own = profiledRequest(ctx, profile, { operationId, checkResponses: deps.checkResponses });
  const query = contract.query || ctx.querystring !== '' ? parseOrRefuse(contract.query ?? emptyQuery, own.query) : {};
  const { workspaceId } = auth;
  const list = { operationId, params, query, workspaceId };
  assertCursor(list);
  readOwnTags(ctx, workspaceId);
  const header = (name: string): string | undefined => ctx.get(name) || undefined;
  const answerTo = (sent?: unknown): Promise<unknown> => {
    const body = contract.body && parseOrRefuse(contract.body, sent);
    ctx.status = contract.status ?? 200;
    const rawBody = () => readRawBody(ctx);
    const input = { params, query, body, auth, requestId: ctx.state.requestId, header, rawBody };
    const once = async (): Promise<unknown> => {
      const result = toListResponse(ctx, list, await handle(input, ctx));
      nameWorkspaceInTag(ctx, workspaceId);
      deps.setHeaders?.(ctx, list, result);
      const warnings = currentOperation()?.warnings;
      if (warnings && warnings.size > 0) {
        ctx.set(warningsHeader, [...warnings].join(','));
      }
      if (isReplayed(result)) {
        ctx.set(replayedHeader, 'true');
      }
      const done = contract.audit?.(input, result);
      if (done) {
        await audit({ ...done, ...auditedCaller(auth, done.details) });
      }
      return result;
    };
    if (isReadMethod(ctx.method)) {
      return once();
    }
    const key = idempotencyOf(contract) === 'key' ? idempotencyKeyOf(header) : undefined;
    if (key === undefined || !idempotencyKeys) {
      return answerPlainly(ctx, async () => {
        await deps.assertWritable?.();
        return once();
      });
    }
    const checked = async (): Promise<unknown> => {
      const result = await once();
      if (deps.checkResponses) {
        assertResponse(contract, result);
      }
      return result;
    };
    return answerOnce(
      ctx,
      { keys: idempotencyKeys, key, actor: keyOwner(auth), operationId, params, query, body },
      checked,
    );
  };
  // The body comes last: for a caller without permission none is read.
  const result = await (contract.upload && deps.uploads
    ? receiveForm(ctx, { limits: contract.upload, uploads: deps.uploads }, answerTo)
    : answerTo(await sentBody(contract, ctx)));
  if (deps.checkResponses && !(result === undefined || result instanceof StoredResponse)) {
    assertResponse(contract, result);
  }
  return sendResult(ctx, result, own);
}

/** The value of the body. An operation that takes none refuses one with fields, which it would ignore. @throws AppError 400, 413, 415 */
async function sentBody({ body, rawBody }: RouteContract, ctx: HttpContext): Promise<unknown> {
  if (rawBody || (body === undefined && isReadMethod(ctx.method))) {
    return undefined;
  }
  const sent = await readJsonBody(ctx);
  return body ? sent : parseOrRefuse(emptyBody, sent);
}

/** Who calls, by the one kind of credential that the route takes. */
const callerOf = (
  { credential }: RouteContract,
  { req: { headers, socket } }: HttpContext,
  { authenticate, handles }: RouteDependencies,
): Promise<AuthContext | undefined> | undefined =>
  credential === undefined ? authenticate(headers, socket) : handles?.[credential].authenticate(headers);

/** Whether a credential of the kind that the route takes was presented. */
const presentsCredential = (
  { credential }: RouteContract,
  { req: { headers } }: HttpContext,
  { handles }: RouteDependencies,
): boolean => (credential === undefined ? presentsKey(headers) : (handles?.[credential].presented(headers) ?? false));

/** Who has done it: devices may have one name, and one actor then. */
const auditedCaller = ({ actor, deviceSessionId }: AuthContext, details?: Record<string, unknown>) =>
  deviceSessionId === undefined ? { actor } : { actor, details: { ...details, deviceSessionId } };

/** Whose an idempotency key is: two devices or tokens are two owners, also where they have one name. */
const keyOwner = ({ actor, tokenId, deviceSessionId }: AuthContext): string =>
  [actor, tokenId ?? deviceSessionId ?? []].flat().join(' ');

/** Whether a route with a rule of its own for repetitions answered one. */
const isReplayed = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && 'replayed' in result && result.replayed === true;

/** @throws AppError 403 when the route is turned off by a setting */
async function assertTurnedOn(setting: string, isTurnedOn: (setting: string) => Promise<boolean>): Promise<void> {
  if (await isTurnedOn(setting)) {
    return;
  }
  const message = `This feature is disabled: the feature setting ${setting} is false.`;
  throw new AppError('FEATURE_DISABLED', { status: 403, message, details: { setting } });
}

/** Bytes are not checked: what is serialised already and comes without its value, or is no JSON. */
function assertResponse(contract: RouteContract, result: unknown): void {
  if (result instanceof BytesResponse || (result instanceof RawJson && result.value === undefined)) {
    return;
  }
  const parsed = contract.response.safeParse(result instanceof RawJson ? result.value : result);
  if (!parsed.success) {
    throw new Error(`The response of ${contract.operationId} violates its contract: ${parsed.error.message}`);
  }
}
