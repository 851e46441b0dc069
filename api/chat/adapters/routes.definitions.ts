import {
  communityDefinitionList,
  definitionImport,
  definitionLink,
  definitionLinkList,
  definitionPreview,
  definitionPreviewRequest,
} from '../../../contracts/chat/adapter-definition';
import type { Routes } from '../../../platform/http/routing/routes';
import { type AdapterContext, assertEnabled, byAdapter, findCommunity, root, tag } from './adapter';
import { importDefinition, listDefinitions, listLinks, previewDefinition } from './definitions';

/** Definitions of agents that a community publishes, and profiles that are imported from them. */
export function adapterDefinitionRoutes(routes: Routes, context: AdapterContext): void {
  const { adapterRequests } = context;
  const path = `${root}/adapters/:adapterId/community/definitions`;
  const reads = { tag, permission: 'settings:read', params: byAdapter };

  routes.add(
    {
      ...reads,
      method: 'get',
      path,
      operationId: 'listCommunityDefinitions',
      summary: 'Read the definitions of agents that a community publishes',
      response: communityDefinitionList,
      errors: [409, 502, 503],
    },
    async ({ params: { adapterId } }) => {
      const record = await findCommunity(context, adapterId);
      assertEnabled(record);
      await adapterRequests.readDefinitions({ adapterId, revision: record.revision });
      return { definitions: await listDefinitions(context, adapterId) };
    },
  );

  routes.add(
    {
      ...reads,
      method: 'get',
      path: `${path}/links`,
      operationId: 'listCommunityDefinitionLinks',
      summary: 'List which profiles were imported from which definitions, and what has changed since',
      response: definitionLinkList,
      errors: [409],
    },
    async ({ params: { adapterId } }) => {
      await findCommunity(context, adapterId);
      return { links: await listLinks(context, adapterId) };
    },
  );

  routes.add(
    {
      ...reads,
      method: 'post',
      path: `${path}/preview`,
      operationId: 'previewCommunityDefinition',
      summary: 'Preview the profile that an import of a definition would write',
      idempotency: 'none',
      body: definitionPreviewRequest,
      response: definitionPreview,
      errors: [404, 409],
    },
    async ({ params: { adapterId }, body }) => {
      await findCommunity(context, adapterId);
      return previewDefinition(context, adapterId, body);
    },
  );

  routes.add(
    {
      ...reads,
      method: 'post',
      path: `${path}/import`,
      operationId: 'importCommunityDefinition',
      summary: 'Import a previewed definition as a profile, which is disabled at first',
      permission: 'settings:write',
      onHosts: true,
      body: definitionImport,
      response: definitionLink,
      errors: [404, 409],
      audit: ({ params: { adapterId } }, { definitionId, profileId, digest, profileRevision }) => ({
        action: 'communication.import-definition',
        resource: profileId,
        details: { adapterId, definitionId, digest, profileRevision },
      }),
    },
    async ({ params: { adapterId }, body, auth }) => {
      assertEnabled(await findCommunity(context, adapterId));
      return importDefinition(context, adapterId, { body, actor: auth.actor });
    },
  );
}
