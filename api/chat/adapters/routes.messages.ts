import {
  adapterDelivery,
  adapterReply,
  adapterSend,
  deliveryPage,
  deliveryQuery,
  mappingPage,
  mappingQuery,
  pollReport,
  replyReceipt,
} from '../../../contracts/chat/adapter-delivery';
import type { SwitchableFeature } from '../../../contracts/settings/settings';
import { conflict } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { type AdapterContext, assertEnabled, byAdapter, findAdapter, root, tag } from './adapter';
import { receiveReply } from './receive';
import { requestDelivery } from './send';

/** What comes into the squad chat from elsewhere is turned off with it. */
const setting: SwitchableFeature = 'squadChat';

/** Messages to the other sides of adapters, and replies from there. */
export function adapterMessageRoutes(routes: Routes, context: AdapterContext): void {
  const { adapterDeliveries, adapterMappings, adapterRequests } = context;
  const reads = { method: 'get' as const, tag, permission: 'settings:read' };
  const writes = { method: 'post' as const, tag, permission: 'settings:write', params: byAdapter };

  routes.add(
    {
      ...writes,
      path: `${root}/adapters/:adapterId/send`,
      operationId: 'sendCommunicationMessage',
      summary: 'Send a message by an adapter; a durable delivery is accepted',
      body: adapterSend,
      response: adapterDelivery,
      status: 202,
      errors: [404, 409, 429],
      audit: (_request, { id, adapterId, taskId, squadMessageId }) => ({
        action: 'communication.send',
        resource: id,
        details: { adapterId, taskId, squadMessageId },
        once: `communication.send/${id}`,
      }),
    },
    async ({ params: { adapterId }, body, auth }) =>
      requestDelivery(context, await findAdapter(context, adapterId), { body, auth }),
  );

  routes.add(
    {
      ...writes,
      path: `${root}/adapters/:adapterId/replies`,
      operationId: 'addCommunicationReply',
      summary: 'Add a reply of a team chat or community to the squad chat, once for its external id',
      permission: 'comment:write',
      setting,
      body: adapterReply,
      response: replyReceipt,
      errors: [404, 409, 429],
      audit: ({ params: { adapterId } }, { messageId, duplicate }) =>
        duplicate ? undefined : { action: 'communication.reply', resource: messageId, details: { adapterId } },
    },
    async ({ params: { adapterId }, body, auth }) =>
      receiveReply(context, await findAdapter(context, adapterId), { body, auth }),
  );

  routes.add(
    {
      ...writes,
      path: `${root}/adapters/:adapterId/poll`,
      operationId: 'pollCommunicationAdapter',
      summary: 'Read new messages of the mapped channel of a community into the squad chat',
      setting,
      response: pollReport,
      errors: [409, 502, 503],
      audit: ({ params }, { ingested, duplicates, skipped }) => ({
        action: 'communication.poll',
        resource: params.adapterId,
        details: { ingested, duplicates, skipped },
      }),
    },
    async ({ params: { adapterId } }) => {
      const record = await findAdapter(context, adapterId);
      assertEnabled(record);
      if (record.kind !== 'community') {
        const message = 'A webhook cannot be read: replies of a team chat come to POST …/replies.';
        throw conflict(message, { adapterId, kind: record.kind }, 'ADAPTER_NOT_POLLED');
      }
      return adapterRequests.poll({ adapterId, revision: record.revision });
    },
  );

  routes.add(
    {
      ...reads,
      path: `${root}/mappings`,
      operationId: 'listCommunicationMappings',
      summary: 'List which external threads belong to which squad messages and tasks, newest first',
      query: mappingQuery,
      response: mappingPage,
    },
    async ({ query }) => {
      const page = await adapterMappings.list(query);
      return page.answer({ mappings: page.items });
    },
  );

  routes.add(
    {
      ...reads,
      path: `${root}/deliveries`,
      operationId: 'listCommunicationDeliveries',
      summary: 'List deliveries with their attempts and outcomes, newest first',
      query: deliveryQuery,
      response: deliveryPage,
    },
    async ({ query }) => {
      const page = await adapterDeliveries.list(query);
      return page.answer({ deliveries: page.items });
    },
  );
}
