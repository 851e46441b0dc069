import type { z } from 'zod';
import type { Page, PagedBody } from '../../lists/page';
import type { AuthContext } from '../auth/auth';
import type { UploadLimits } from '../body/multipart';
import type { HttpContext } from '../context';
import type { BytesResponse, RawJson } from '../response';
import type { Deprecation } from './deprecation';

/** Credentials that agents have of their attempt: each opens the routes that name it, and no other. */
export type HandleCredential = 'attempt-handle' | 'tool-bridge';

/** What responses are that are texts, and not JSON. */
export type TextMediaType =
  'application/yaml' | 'image/svg+xml' | 'text/csv' | 'text/html' | 'text/markdown' | 'text/plain' | 'text/x-diff';

/**
 * What one route takes and gives: the source of its validation, its types and its page in the OpenAPI document.
 * Schemas of `query` and `body` are strict objects: unknown fields are refused by name.
 */
export interface RouteContract<
  P extends z.ZodType = z.ZodType,
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
> {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Relative to `/api`, with `:name` parameters: `/tasks/:taskId`. */
  path: string;
  /** `root`: the path is the whole path. For probes, which are no part of the versioned API. */
  mount?: 'api' | 'root';
  operationId: string;
  summary: string;
  tag: string;
  /** A permission the caller needs, `authenticated` for any valid credential, or `public` for every caller. */
  permission: string;
  /** It starts or steers agents: the caller is on this machine, or has a capability to do so from elsewhere. */
  localAgent?: true;
  /** What the caller proves itself with; a key of the API when absent, and nothing else when it is named. */
  credential?: HandleCredential;
  /** It changes only what is the caller's own: a person may call it whose role permits no other change. */
  ownAccount?: true;
  /** It changes nothing by itself: the requests that it makes for the caller, or lets it make, are permitted one by one. */
  relays?: true;
  /** Hosts execute what it configures, or it names a path on them. */
  onHosts?: true;
  /** Of a public route: the parameter of its path that names the workspace; the workspace of the routes when absent. */
  workspaceParam?: string;
  /** The feature setting that turns the route off when it is `false`. */
  setting?: string;
  params?: P;
  query?: Q;
  body?: B;
  /** The body is `multipart/form-data` with files within these limits; `body` is its schema. */
  upload?: UploadLimits;
  /** The handler reads the bytes of the body with `rawBody()`, since their sender has signed them; `body` is absent. */
  rawBody?: true;
  /** The response of a success; `z.undefined()` for one without a body. */
  response: R;
  /** Of a response that is a text, and not JSON. */
  mediaType?: TextMediaType;
  /** What it is as well, where the request chooses its format: texts too. */
  otherMediaTypes?: readonly TextMediaType[];
  status?: 200 | 201 | 202 | 204 | 302;
  /**
   * What a repetition of the request is. `key`: with the same `Idempotency-Key` it gets the first response, and is done once;
   * the default of every POST. `own`: the route has a rule of its own, which takes the header or an id in its body. `none`: the
   * header is not taken.
   */
  idempotency?: 'key' | 'own' | 'none';
  /** Statuses of refusals besides those that follow from the rest of the contract. */
  errors?: number[];
  /** The route is another form of one that stays, and will be removed. */
  deprecated?: Deprecation;
  /**
   * What the audit log records of a success; nothing when it returns `undefined`. It is written before the response is sent:
   * everything confirmed to a caller is in the log.
   */
  audit?(request: RouteInput<z.output<P>, z.output<Q>, z.output<B>>, answer: z.output<R>): AuditedAction | undefined;
}

/** An entry of the audit log but for who did it, which is the caller. */
export interface AuditedAction {
  /** e.g. `task.delete`. */
  action: string;
  /** What it was done to, e.g. the id of a task. */
  resource?: string | undefined;
  details?: Record<string, unknown> | undefined;
  /** Names what was done, so that a request that is repeated is not written twice. */
  once?: string | undefined;
}

/** A request that passed its contract. */
export interface RouteInput<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  /** Who calls. On a `public` route, the owner of a valid key; all other callers have no permissions. */
  auth: AuthContext;
  requestId: string;
  header: (name: string) => string | undefined;
  /** Of a contract with `rawBody`: reads the bytes of the body. @throws AppError 400, 413, 415 */
  rawBody: () => Promise<Buffer>;
}

/** A page of a list: of the list itself, or of an object around it, whose `nextCursor` is written with the response. */
export type PagedResponse<R> = R extends (infer T)[]
  ? Page<T>
  : R extends object
    ? PagedBody<Omit<R, 'nextCursor'>>
    : never;

/** Returns the body, a page of a list, bytes that are serialised already, or (204, 304) nothing. */
export type RouteHandler<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType> = (
  input: RouteInput<z.output<P>, z.output<Q>, z.output<B>>,
  ctx: HttpContext,
) => Promise<z.output<R> | PagedResponse<z.output<R>> | RawJson | BytesResponse | undefined>;

/** The path as the router and the OpenAPI document know it. */
export const fullPath = (contract: Pick<RouteContract, 'path' | 'mount'>): string =>
  contract.mount === 'root' ? contract.path : `/api${contract.path}`;

/** What a repetition of a request to this route is. */
export const idempotencyOf = ({ idempotency, method }: RouteContract): 'key' | 'own' | 'none' =>
  idempotency ?? (method === 'post' ? 'key' : 'none');
