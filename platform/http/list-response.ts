import { createHash } from 'node:crypto';
import type { Cursor } from '../../contracts/cursor';
import { validationError } from '../errors/app-error';
import { Page, PagedBody, type Position } from '../lists/page';
import { localWorkspaceId } from './auth/auth';
import type { HttpContext } from './context';

/** Query parameters that select a part of a list, and not the list. */
const partParameters = new Set(['limit', 'cursor', 'offset', 'page']);

type Query = Record<string, unknown>;

const isCursor = (value: unknown): value is Cursor => typeof value === 'object' && value !== null && 'list' in value;

/** Names a list of a workspace with its filters in a few letters. */
function listName({ operationId, params, workspaceId, ...request }: ListRequest): string {
  const query = queryOf(request);
  const filters = Object.entries(query).filter(([name, value]) => !partParameters.has(name) && value !== undefined);
  filters.sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([
    operationId,
    params ?? {},
    filters,
    ...(workspaceId === localWorkspaceId ? [] : [workspaceId]),
  ]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

/** The request of a list, as far as its pages need it. */
export interface ListRequest {
  operationId: string;
  params: unknown;
  /** As the contract has parsed it. */
  query: unknown;
  /** Whose list it is: that of no other workspace continues it. */
  workspaceId: string;
}

const queryOf = ({ query }: Pick<ListRequest, 'query'>): Query => query as Query;

/**
 * Refuses a cursor of another list, or one combined with another parameter of the position.
 *
 * @throws AppError `VALIDATION_ERROR` 400 with the path `cursor`
 */
export function assertCursor(request: ListRequest): void {
  const query = queryOf(request);
  const { cursor, offset, page } = query;
  if (!isCursor(cursor)) {
    return;
  }
  const refuse = (message: string) => validationError([{ path: 'cursor', message, code: 'custom' }]);
  if (cursor.list !== listName(request)) {
    throw refuse('is of another list, or of this one with other filters');
  }
  if (Number(offset ?? 0) > 0 || Number(page ?? 0) > 1) {
    throw refuse('cannot be combined with offset or page');
  }
}

/** Links to the same request for what comes next: the caller's own query with another position. */
export function linkNext(ctx: HttpContext, parameter: string, place: string): void {
  const search = new URLSearchParams(ctx.querystring);
  search.delete('offset');
  search.delete('page');
  search.set(parameter, place);
  ctx.set('Link', `<${ctx.path}?${search.toString()}>; rel="next"`);
}

/** The cursor with which a list continues after a position, opaque to callers. */
export function cursorAfter(request: ListRequest, { key, id }: Position): string {
  const list = listName(request);
  const content: Cursor = { v: 1, list, key, id };
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

/** Sets the headers of the next page (RFC 8288). A list in numbered pages names its neighbours itself. */
export function setNextHeaders(ctx: HttpContext, cursor: string): void {
  ctx.set('X-Next-Cursor', cursor);
  if (!ctx.response.get('Link')) {
    linkNext(ctx, 'cursor', cursor);
  }
}

/** Sets the headers of the next page; returns the next cursor, none at the end. */
function setNext(ctx: HttpContext, request: ListRequest, next: Position | undefined): string | undefined {
  if (!next) {
    return undefined;
  }
  const cursor = cursorAfter(request, next);
  setNextHeaders(ctx, cursor);
  return cursor;
}

/** What a handler has returned, as it is sent: pages with their next cursor, anything else unchanged. */
export function toListResponse(ctx: HttpContext, request: ListRequest, result: unknown): unknown {
  if (result instanceof Page) {
    setNext(ctx, request, result.next);
    return result.items;
  }
  if (!(result instanceof PagedBody)) {
    return result;
  }
  const nextCursor = setNext(ctx, request, result.next);
  return nextCursor === undefined ? result.body : { ...result.body, nextCursor };
}
