import { createHash } from 'node:crypto';
import { changes, changesQuery } from '../../../contracts/chat/change';
import { answersNotModified } from '../../../platform/http/response';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { collectChanges } from './collect';

/** The changes of the board, for agents that poll (specification 1, Mount list). */
export function changeRoutes(routes: Routes, sources: Pick<ApiContext, 'board' | 'activity' | 'broadcasts'>): void {
  routes.add(
    {
      method: 'get',
      path: '/changes',
      operationId: 'listChanges',
      summary: 'List changes since a time; the entity tag changes with the list',
      tag: 'changes',
      permission: 'task:read',
      query: changesQuery,
      response: changes,
    },
    async ({ query }, ctx) => {
      const collected = await collectChanges(sources, query, new Date());
      // Not of `until`, which moves while nothing happens.
      const { changes: publishedChanges, summary } = collected.body;
      const content = createHash('sha1')
        .update(JSON.stringify([publishedChanges, summary]))
        .digest('base64url');
      return answersNotModified(ctx, `W/"changes:${content}"`) ? undefined : collected;
    },
  );
}
