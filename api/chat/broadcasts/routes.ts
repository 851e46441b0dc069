import { z } from 'zod';
import { broadcast, broadcastCreate, broadcastQuery, broadcastRead } from '../../../contracts/chat/broadcast';
import { assertFound, conflict, notFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { maxReaders } from '../../../stores/chat/broadcast-store';
import type { ApiContext } from '../../context';
import { assertAllowed } from '../../governance/assert-allowed';
import { newItemId } from '../../tasks/tasks/items';
import { plainField } from '../../tasks/tasks/plain-text';

const tag = 'broadcasts';
const idParams = z.strictObject({ id: z.string().max(64) });
const reads = { tag, method: 'get' as const, permission: 'task:read' };

/** Messages to all agents (specification 1, Mount list). */
export function broadcastRoutes(
  routes: Routes,
  context: Pick<ApiContext, 'board' | 'broadcasts' | 'feed' | 'rules'>,
): void {
  const { broadcasts, feed } = context;
  routes.add(
    {
      tag,
      method: 'post',
      path: '/broadcasts',
      operationId: 'createBroadcast',
      summary: 'Send a broadcast to all agents and watchers',
      permission: 'comment:write',
      body: broadcastCreate,
      response: broadcast,
      status: 201,
    },
    async ({ body, auth }) => {
      const fields = {
        message: plainField(body.message, 'message'),
        priority: body.priority,
        from: plainField(body.from ?? auth.tokenName, 'from'),
        tags: body.tags.map((each, index) => plainField(each, `tags.${index}`)),
      };
      await assertAllowed(context, 'external-message', { actor: auth.actor, also: ['broadcast'], subject: fields });
      const made = await broadcasts.add({ id: newItemId('broadcast'), ...fields });
      await feed.append({ type: 'notice', notice: { type: 'broadcast:new', broadcast: made } });
      return made;
    },
  );

  routes.add(
    {
      ...reads,
      path: '/broadcasts',
      operationId: 'listBroadcasts',
      summary: 'List broadcasts, newest first; with unread, those an agent has not read',
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
      summary: 'Read one broadcast with its readers',
      params: idParams,
      response: broadcast,
    },
    async ({ params: { id } }) => {
      const stored = await broadcasts.get(id);
      assertFound(stored, 'broadcast', id);
      return stored;
    },
  );

  routes.add(
    {
      tag,
      method: 'patch',
      path: '/broadcasts/:id/read',
      operationId: 'readBroadcast',
      summary: 'Mark a broadcast as read by an agent',
      permission: 'comment:write',
      params: idParams,
      body: broadcastRead,
      response: z.object({ success: z.literal(true) }),
      errors: [404, 409],
    },
    async ({ params: { id }, body }) => {
      const marked = await broadcasts.markRead(id, plainField(body.agent, 'agent'));
      if (marked === 'missing') {
        throw notFound('broadcast', id);
      }
      if (marked === 'full') {
        throw conflict(`A broadcast records at most ${maxReaders} readers.`, {}, 'BROADCAST_READERS_FULL');
      }
      return { success: true as const };
    },
  );
}
