import { adapter, adapterHealth, adapterList, adapterPut } from '../../../contracts/chat/adapter';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import type { AdapterRecord } from '../../../stores/chat/adapter-store';
import { assertRevision, statedRevision, withRevision } from '../../revisions';
import { type AdapterContext, byAdapter, findAdapter, root, tag } from './adapter';
import { assertServable, configured, sealSecrets } from './configure';
import { healthOf, presentAdapter } from './present';
import { adapterChannelRoutes } from './routes.channels';
import { adapterDefinitionRoutes } from './routes.definitions';
import { adapterMessageRoutes } from './routes.messages';

const type = 'communication-adapters';

/** The most adapters of a workspace. */
const maxAdapters = 100;

/** Connections to team chats and communities (specification 1, Communication adapters). */
export function adapterRoutes(routes: Routes, context: AdapterContext): void {
  const { adapters, adapterRequests, credentialSeal, env } = context;
  const reads = { method: 'get' as const, tag, permission: 'settings:read' };
  const writes = { tag, permission: 'settings:write', params: byAdapter };

  routes.add(
    {
      ...reads,
      path: `${root}/adapters`,
      operationId: 'listCommunicationAdapters',
      summary: 'List the adapters to team chats and communities, without their secrets',
      response: adapterList,
    },
    async () => ({ adapters: (await adapters.list()).map(presentAdapter) }),
  );

  routes.add(
    {
      ...writes,
      method: 'put',
      path: `${root}/adapters/:adapterId`,
      operationId: 'putCommunicationAdapter',
      summary: 'Create or change an adapter; absent fields stay, null clears',
      onHosts: true,
      body: adapterPut,
      response: adapter,
      errors: [409],
      audit: ({ body }, { id, kind, enabled, revision }) => ({
        action: 'communication.configure',
        resource: id,
        details: { kind, enabled, revision, fields: Object.keys(body).sort() },
      }),
    },
    async ({ params: { adapterId }, body, header }, ctx) => {
      assertServable(body, env);
      const before = await adapters.get(adapterId);
      if (!before && (await adapters.list()).length >= maxAdapters) {
        throw conflict(`A workspace has at most ${maxAdapters} adapters.`, { max: maxAdapters }, 'ADAPTER_LIMIT');
      }
      const expected = await statedRevision(
        { type, id: adapterId, current: () => adapters.get(adapterId) },
        { header },
      );
      const sealed = await sealSecrets(credentialSeal, body, { id: adapterId, current: before });
      const stored = await adapters.change(adapterId, (current) => {
        assertRevision('communication adapter', current ?? { id: adapterId, revision: 0 }, {
          expectedRevision: expected,
          shown: current ? presentAdapter(current) : null,
        });
        return configured(adapterId, body, { current, sealed });
      });
      return presentAdapter(withRevision(ctx, type, stored));
    },
  );

  routes.add(
    {
      ...reads,
      path: `${root}/adapters/:adapterId/health`,
      operationId: 'getCommunicationAdapterHealth',
      summary: 'Read how an adapter does: its last probe and its deliveries',
      params: byAdapter,
      response: adapterHealth,
    },
    async ({ params: { adapterId } }) => healthOf(context, await findAdapter(context, adapterId)),
  );

  routes.add(
    {
      ...writes,
      method: 'post',
      path: `${root}/adapters/:adapterId/test`,
      operationId: 'testCommunicationAdapter',
      summary: 'Test whether an adapter reaches its other side; sends no message',
      response: adapterHealth,
      errors: [502, 503],
      audit: ({ params }, { status, reasonCode }) => ({
        action: 'communication.test',
        resource: params.adapterId,
        details: { status, reasonCode },
      }),
    },
    async ({ params: { adapterId } }) => {
      const { revision } = await findAdapter(context, adapterId);
      await adapterRequests.probe({ adapterId, revision });
      return healthOf(context, await findAdapter(context, adapterId));
    },
  );

  routes.add(
    {
      ...writes,
      method: 'post',
      path: `${root}/adapters/:adapterId/disconnect`,
      operationId: 'disconnectCommunicationAdapter',
      summary: 'Disable an adapter and delete its secrets; pending messages fail',
      response: adapter,
      audit: ({ params }) => ({ action: 'communication.disconnect', resource: params.adapterId }),
    },
    async ({ params: { adapterId } }, ctx) => {
      const stored = await adapters.change(adapterId, (current) => {
        assertFound(current, 'communication adapter', adapterId);
        return disconnected(current);
      });
      return presentAdapter(withRevision(ctx, type, stored));
    },
  );

  adapterMessageRoutes(routes, context);
  adapterChannelRoutes(routes, context);
  adapterDefinitionRoutes(routes, context);
}

function disconnected(record: AdapterRecord) {
  const { id: _id, revision: _revision, createdAt: _createdAt, updatedAt: _updatedAt, ...fields } = record;
  if (fields.kind === 'community') {
    return { ...fields, enabled: false, credentialRef: null, authTagRef: null, command: null };
  }
  const { webhookUrl: _webhookUrl, credential: _credential, ...rest } = fields;
  return { ...rest, enabled: false, webhookUrlRedacted: null };
}
