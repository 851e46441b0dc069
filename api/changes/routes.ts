import { createHash } from 'node:crypto';
import { changes, changesQuery } from '../../contracts/change-feed';
import { answersNotModified } from '../../platform/http/answer';
import type { Routes } from '../../platform/http/routes';
import type { ApiContext } from '../context';
import { collectChanges } from './collect';

/** What has changed, for agents that ask from time to time (specification 1, Mount list). */
export function changeRoutes(routes: Routes, sources: Pick<ApiContext, 'board' | 'activity' | 'broadcasts'>): void {
  routes.add(
    {
      method: 'get',
      path: '/changes',
      operationId: 'listChanges',
      summary: 'List what has changed after a time; its entity tag stays while nothing does',
      tag: 'changes',
      permission: 'task:read',
      query: changesQuery,
      response: changes,
    },
    async ({ query }, ctx) => {
      const found = await collectChanges(sources, query, new Date());
      // Not of `until`, which moves while nothing happens.
      const { changes: told, summary } = found.body;
      const content = createHash('sha1')
        .update(JSON.stringify([told, summary]))
        .digest('base64url');
      return answersNotModified(ctx, `W/"changes:${content}"`) ? undefined : found;
    },
  );
}
