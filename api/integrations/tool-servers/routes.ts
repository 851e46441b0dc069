import { z } from 'zod';
import { slug } from '../../../contracts/common';
import {
  type ToolServerCreate,
  toolServerCreate,
  toolServerDefinition,
  toolServerList,
  toolServerQuery,
  toolServerView,
  type ToolServerWrite,
  toolServerWrite,
} from '../../../contracts/integrations/tool-server';
import { validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { slicePage } from '../../../platform/lists/slice';
import { toDefinition } from '../../../stores/integrations/tool-server-store';
import type { ApiContext } from '../../context';
import { recordRoutes } from '../../record-routes';
import { withRevision } from '../../revisions';
import { refuseRelativeCommands } from '../../settings/config/commands';
import { refuseCredentials } from '../../settings/config/credentials';
import { newItemId } from '../../tasks/tasks/items';
import { plainField } from '../../tasks/tasks/plain-text';
import { withHealth } from './health';
import { type DiscoveryContext, toolDiscoveryRoutes } from './routes.discovery';

const type = 'tool-servers';
const byId = z.strictObject({ id: slug });

/** The most definitions of a workspace: a discovery of all of them is a bounded amount of work. */
const maxDefinitions = 200;

export type ToolServerContext = DiscoveryContext & Pick<ApiContext, 'env'>;

/** The servers of the Model Context Protocol whose tools runs may call (specification 2, Tool control plane). */
export function toolServerRoutes(routes: Routes, context: ToolServerContext): void {
  const { env, toolServers, toolDiscoveries } = context;
  const stored = (body: ToolServerWrite): ToolServerWrite => {
    assertAddressAllowed(body, env);
    refuseCredentials(body, 'name a variable in environmentKey(s), or a scope in credentialReferences, instead');
    refuseRelativeCommands(body);
    return { ...body, displayName: plainField(body.displayName, 'displayName') };
  };
  const servers = recordRoutes(routes, {
    records: {
      ...toolServers,
      async remove(id: string, expectedRevision?: number): Promise<boolean> {
        const isRemoved = await toolServers.remove(id, expectedRevision);
        await toolDiscoveries.removeServer(id);
        return isRemoved;
      },
    },
    resource: 'tool server',
    type,
    path: '/tool-servers',
    id: 'id',
    params: byId,
    response: toolServerDefinition,
    permissions: { read: 'settings:read', write: 'admin:manage' },
    max: maxDefinitions,
    present: toDefinition,
  });

  servers.list(
    {
      operationId: 'listToolServers',
      summary: 'List the definitions of tool servers',
      query: toolServerQuery,
      response: toolServerList,
    },
    (all, query) => {
      const page = slicePage(all, query, { positionOf: ({ id }) => ({ key: id, id }) });
      return page.answer({ servers: page.items.map(toDefinition) });
    },
  );

  servers.create(
    {
      operationId: 'createToolServer',
      summary: 'Create the definition of a tool server; nothing is started',
      onHosts: true,
      body: toolServerCreate,
      audit: { action: 'tool-server.create', details: (_body, { digest }) => ({ digest }) },
    },
    ({ id = newItemId('toolserver'), ...fields }: ToolServerCreate) => ({ id, fields: stored(fields) }),
  );

  routes.add(
    {
      method: 'get',
      path: '/tool-servers/:id',
      operationId: 'getToolServer',
      summary: 'Read the definition of a tool server, and its health on each host',
      tag: type,
      permission: 'settings:read',
      params: byId,
      response: toolServerView,
    },
    async ({ params: { id } }, ctx) =>
      withHealth(toolDiscoveries, toDefinition(withRevision(ctx, type, await servers.find(id)))),
  );

  servers.replace(
    {
      operationId: 'putToolServer',
      summary: 'Replace the definition of a tool server',
      onHosts: true,
      body: toolServerWrite,
      audit: { action: 'tool-server.update', details: ({ enabled }, { digest }) => ({ enabled, digest }) },
    },
    stored,
  );

  servers.remove({
    operationId: 'deleteToolServer',
    summary: 'Delete the definition of a tool server, with what was discovered of it',
    audit: { action: 'tool-server.delete' },
  });

  toolDiscoveryRoutes(routes, context);
}

/** Refuses an address that no worker would call. */
function assertAddressAllowed({ transport }: ToolServerWrite, env: ToolServerContext['env']): void {
  if (
    transport.kind === 'streamable-http' &&
    transport.url.startsWith('http:') &&
    !env.BOARD_TOOL_SERVER_ALLOW_PRIVATE
  ) {
    const message = 'must begin with https://, unless BOARD_TOOL_SERVER_ALLOW_PRIVATE is true';
    throw validationError([{ path: 'transport.url', message }]);
  }
}
