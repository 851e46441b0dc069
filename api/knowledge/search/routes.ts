import {
  type SearchCollection,
  searchCollection,
  searchRefresh,
  searchRefreshed,
  searchRequest,
  searchResponse,
} from '../../../contracts/knowledge/search';
import { AppError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';

const tag = 'search';

/** What reading a collection elsewhere needs: a search shows nothing that its caller could not read there. */
const permissionOf = (collection: SearchCollection): string => (collection === 'docs' ? 'settings:read' : 'task:read');

/** @throws AppError 403 when a collection is named that the caller may not read */
function readableBy({ role, permissions }: AuthContext, named: readonly SearchCollection[] | undefined) {
  const asked = [...new Set(named ?? searchCollection.options)];
  const readable = asked.filter((collection) => permissions.includes(permissionOf(collection)));
  const hidden = asked.find((collection) => !readable.includes(collection));
  if (named && hidden !== undefined) {
    const required = permissionOf(hidden);
    throw new AppError('FORBIDDEN', {
      status: 403,
      message: `Searching ${hidden} requires the permission ${required}.`,
      details: { required: [required], currentRole: role, currentPermissions: permissions, collection: hidden },
    });
  }
  return readable;
}

/** Search over tasks and documents (specification 1, Registries and analysis). */
export function searchRoutes(routes: Routes, { search }: Pick<ApiContext, 'search'>): void {
  routes.add(
    {
      method: 'post',
      path: '/search',
      operationId: 'search',
      summary: 'Search tasks and documents',
      tag,
      permission: 'task:read',
      idempotency: 'none',
      body: searchRequest,
      response: searchResponse,
      errors: [409, 503],
    },
    ({ body, auth }) => search.find(body, readableBy(auth, body.collections)),
  );

  routes.add(
    {
      method: 'post',
      path: '/search/index/refresh',
      operationId: 'refreshSearchIndex',
      summary: 'Compare the search index with tasks and documents, and update it',
      tag,
      permission: 'settings:write',
      idempotency: 'none',
      body: searchRefresh,
      response: searchRefreshed,
      errors: [409, 503],
      audit: ({ body }, { updated, embedded }) => ({
        action: 'search.refresh',
        resource: 'search-index',
        details: { embed: body.embed, updated, embedded },
      }),
    },
    ({ body }) => search.refresh(body),
  );
}
