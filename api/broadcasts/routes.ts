import { z } from 'zod';
import { broadcast, broadcastCreate, broadcastQuery, broadcastRead } from '../../contracts/broadcast';
import { assertFound, conflict, notFound } from '../../platform/errors/app-error';
import type { Routes } from '../../platform/http/routes';
import { maxReaders } from '../../stores/broadcast-store';
import type { ApiContext } from '../context';
import { newItemId } from '../tasks/items';
import { plainField } from '../tasks/plain-text';

const tag = 'broadcasts';
const byId = z.strictObject({ id: z.string().max(64) });
const reads = { tag, method: 'get' as const, permission: 'task:read' };

/** Words to all agents (specification 1, Mount list). */
export function broadcastRoutes(routes: Routes, { broadcasts, feed }: Pick<ApiContext, 'broadcasts' | 'feed'>): void {
  routes.add(
    {
      tag,
      method: 'post',
      path: '/broadcasts',
      operationId: 'createBroadcast',
      summary: 'Say something to all agents; watchers are told',
      permission: 'comment:write',
      body: broadcastCreate,
      response: broadcast,
      status: 201,
    },
    async ({ body, auth }) => {
      const made = await broadcasts.add({
        id: newItemId('broadcast'),
        message: plainField(body.message, 'message'),
        priority: body.priority,
        from: plainField(body.from ?? auth.tokenName, 'from'),
        tags: body.tags.map((each, index) => plainField(each, `tags.${index}`)),
      });
      await feed.append({ type: 'notice', notice: { type: 'broadcast:new', broadcast: made } });
      return made;
    },
  );

  routes.add(
    {
      ...reads,
      path: '/broadcasts',
      operationId: 'listBroadcasts',
      summary: 'List the broadcasts, the newest first; with unread, those that agent has not read',
      query: broadcastQuery,
      response: z.array(broadcast),
    },
    ({ query }) => broadcasts.list(query),
  );

  routes.add(
    {
      ...reads,
      path: '/broadcasts/:id',
      operationId: 'getBroadcast',
      summary: 'Read one broadcast, and who has read it',
      params: byId,
      response: broadcast,
    },
    async ({ params: { id } }) => {
      const found = await broadcasts.get(id);
      assertFound(found, 'broadcast', id);
      return found;
    },
  );

  routes.add(
    {
      tag,
      method: 'patch',
      path: '/broadcasts/:id/read',
      operationId: 'readBroadcast',
      summary: 'Note that somebody has read a broadcast, once',
      permission: 'comment:write',
      params: byId,
      body: broadcastRead,
      response: z.object({ success: z.literal(true) }),
      errors: [404, 409],
    },
    async ({ params: { id }, body }) => {
      const marked = await broadcasts.markRead(id, plainField(body.agent, 'agent'));
      if (marked === 'missing') throw notFound('broadcast', id);
      if (marked === 'full') {
        throw conflict(`The broadcast has ${maxReaders} readers, and remembers no more.`, {}, 'BROADCAST_READERS_FULL');
      }
      return { success: true as const };
    },
  );
}
