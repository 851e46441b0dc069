import { createHash } from 'node:crypto';
import type { Task, TaskLocation, TaskQuery } from '../../../contracts/tasks/task';
import type { HttpContext } from '../../../platform/http/context';
import { createLru, type Lru } from '../../../platform/http/limits/lru';
import { cursorAfter, setNextHeaders } from '../../../platform/http/list-response';
import { answersNotModified, RawJson } from '../../../platform/http/response';
import { compact } from '../../../platform/json/compact';
import type { Board } from '../../../stores/board-files/types';
import { linkHeader, paginationOf } from './pages';

/** A list of tasks as it is sent. */
export interface Listing {
  /** The whole body, JSON. */
  bytes: Buffer;
  /** Weak entity tag of the body's content: every replica computes the same one. */
  tag: string;
  /** How many identities are claimed by several files (specification 1, Errors, 3). */
  conflicts: number;
  /** To the neighbours of a numbered page. */
  link?: string;
  nextCursor?: string;
  lastModified?: string;
}

const cachedLists = 32;
const largestCachedBytes = 8 * 1_048_576;

/** Tasks are frozen, and the same object until they change: most of a list need not be serialised again. */
const serialised = new WeakMap<Task, Buffer>();
const comma = Buffer.from(',');

function serialise(task: Task): Buffer {
  let bytes = serialised.get(task);
  if (!bytes) {
    bytes = Buffer.from(JSON.stringify(task));
    serialised.set(task, bytes);
  }
  return bytes;
}

/** Where the listed tasks are, and under which path and operation they are listed. */
export interface ListLocation {
  workspaceId: string;
  location: TaskLocation;
  path: string;
  operationId: string;
}

const activeTasks: Omit<ListLocation, 'workspaceId'> = {
  location: 'active',
  path: '/api/tasks',
  operationId: 'listTasks',
};

/** A query, and how the caller spelt it where that differs. */
type RequestedQuery = Omit<TaskQuery, 'q'> & { q?: string | undefined; search?: string | undefined };

function render(
  board: Pick<Board, 'list' | 'diagnostics'>,
  { workspaceId, location, path, operationId }: ListLocation,
  { query, requested }: { query: TaskQuery; requested: RequestedQuery },
): Listing {
  const { tasks, total, next } = board.list(query, location);
  const diagnostics = board.diagnostics();
  // A request with a cursor is on no numbered page.
  const pagination = query.cursor ? undefined : paginationOf(query, total);
  const nextCursor = next && cursorAfter({ operationId, workspaceId, params: undefined, query: requested }, next);
  const { cursor: _cursor, ...filters } = requested;
  const meta = diagnostics.length > 0 ? { taskIdentityDiagnostics: diagnostics } : undefined;
  const rest = JSON.stringify({ pagination, nextCursor, meta }).slice(1);
  const items = tasks.flatMap((task, index) => (index === 0 ? [serialise(task)] : [comma, serialise(task)]));
  const bytes = Buffer.concat([Buffer.from('{"tasks":['), ...items, Buffer.from(rest === '}' ? ']}' : `],${rest}`)]);
  const newest = tasks.reduce((latest, { updatedAt }) => (updatedAt > latest ? updatedAt : latest), '');
  return {
    bytes,
    tag: `W/"tasks:${createHash('sha1').update(bytes).digest('base64url')}"`,
    conflicts: new Set(diagnostics.flatMap(({ identity }) => identity ?? [])).size,
    ...(pagination && { link: linkHeader(path, filters, pagination) }),
    ...compact({ nextCursor }),
    ...(newest && { lastModified: new Date(newest).toUTCString() }),
  };
}

/**
 * Serves lists of tasks from the board's memory. A list that was requested since the board last changed is not even built
 * again, which is what makes polling cheap.
 *
 * @param place the active tasks unless another location is named
 */
export function createListing(
  board: Pick<Board, 'list' | 'diagnostics' | 'version'>,
  place: Pick<ListLocation, 'workspaceId'> & Partial<ListLocation>,
): (query: TaskQuery, requested?: RequestedQuery) => Listing {
  const location: ListLocation = { ...activeTasks, ...place };
  let version = -1;
  let lists: Lru<Listing> = createLru(cachedLists);
  return (query, requested = query) => {
    if (board.version !== version) {
      version = board.version;
      lists = createLru(cachedLists);
    }
    // Parsed queries have their fields in the order of the schema: equal ones are spelt alike.
    const key = JSON.stringify(query);
    const cached = lists.get(key);
    if (cached) {
      return cached;
    }
    const listing = render(board, location, { query, requested });
    if (listing.bytes.length <= largestCachedBytes) {
      lists.set(key, listing);
    }
    return listing;
  };
}

/** Sends a list with its headers; `undefined` for a caller that has it already (304). */
export function answerListing(ctx: HttpContext, list: Listing): RawJson | undefined {
  if (list.link) {
    ctx.set('Link', list.link);
  }
  if (list.nextCursor !== undefined) {
    setNextHeaders(ctx, list.nextCursor);
  }
  if (list.lastModified) {
    ctx.set('Last-Modified', list.lastModified);
  }
  if (list.conflicts > 0) {
    ctx.set('X-Board-Task-Identity-Conflicts', String(list.conflicts));
  }
  return answersNotModified(ctx, list.tag) ? undefined : new RawJson(list.bytes);
}
