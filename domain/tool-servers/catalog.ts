import type { CatalogServer, CatalogTool, ToolCatalog } from '../../contracts/integrations/tool-catalog';
import type { DiscoveredTool, ToolDiscovery, ToolServerDefinition } from '../../contracts/integrations/tool-server';
import { compact } from '../../platform/json/compact';
import { digestOf } from '../../platform/json/digest';

type Described = Pick<ToolServerDefinition, 'id' | 'digest' | 'displayName' | 'requirement'>;
type Found = Pick<ToolDiscovery, 'state' | 'tools'> & { error?: NonNullable<CatalogServer['reason']> };

/** A server of a catalog as its discovery found it. */
export function catalogServerOf(definition: Described, { state, tools, error }: Found): CatalogServer {
  const { id: serverId, digest: definitionDigest, displayName, requirement } = definition;
  const isReady = state === 'ready';
  return {
    serverId,
    definitionDigest,
    displayName,
    requirement,
    state: isReady ? 'ready' : 'degraded',
    ...(isReady ? {} : { reason: error ?? unexplained }),
    tools: isReady ? tools.map(catalogTool) : [],
  };
}

const unexplained: NonNullable<CatalogServer['reason']> = {
  code: 'unavailable',
  message: 'The tool server could not be discovered.',
  remedy: 'Discover it with POST /api/tool-servers/:id/discover.',
};

const catalogTool = (tool: DiscoveredTool): CatalogTool => ({
  ...tool,
  inputSchemaDigest: digestOf(tool.inputSchema),
  ...compact({ outputSchemaDigest: tool.outputSchema && digestOf(tool.outputSchema) }),
});

/** The digest of what can be called: the same for two launches with the same tools. */
export const catalogDigestOf = (servers: readonly CatalogServer[]): string =>
  digestOf({
    schemaVersion: 'run-tool-catalog/v1',
    servers: servers.map(({ reason: _reason, ...server }) => server),
  });

/** The tool that a catalog has under these names. */
export function findTool(
  { servers }: Pick<ToolCatalog, 'servers'>,
  serverId: string,
  name: string,
): { server: CatalogServer; tool: CatalogTool } | undefined {
  const server = servers.find((each) => each.serverId === serverId);
  const tool = server?.tools.find((each) => each.name === name);
  return server && tool && { server, tool };
}

/** Whether a call of a catalog may be sent still: the catalog and the definition of its server are those that it was requested of. */
export function isStillCallable(
  { serverId, tool, catalogDigest }: { serverId: string; tool: string; catalogDigest: string },
  catalog: Pick<ToolCatalog, 'digest' | 'servers'> | undefined,
  definition: Pick<ToolServerDefinition, 'enabled' | 'digest'>,
): boolean {
  const found = catalog?.digest === catalogDigest ? findTool(catalog, serverId, tool) : undefined;
  const isSame = definition.enabled && definition.digest === found?.server.definitionDigest;
  return isSame && found.tool.policy !== 'denied';
}

/** What a launch manifest states of the catalog. */
export const catalogSummary = (servers: readonly CatalogServer[]) => ({
  digest: catalogDigestOf(servers),
  servers: servers.map(({ serverId, definitionDigest, requirement, state, tools }) => ({
    serverId,
    definitionDigest,
    requirement,
    state,
    tools: tools.length,
  })),
});
