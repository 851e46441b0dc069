import type { CatalogServer } from '../../contracts/integrations/tool-catalog';
import type { ToolDiscovery, ToolServerDefinition } from '../../contracts/integrations/tool-server';
import type { Refusal } from '../../contracts/refusal';
import type { AgentConfig } from '../../contracts/settings/agent-config';
import { refusal } from '../../domain/refusal';
import { catalogDigestOf, catalogServerOf } from '../../domain/tool-servers/catalog';
import { within } from '../../platform/operations/within';
import type { ToolCatalogStore } from './tool-catalog-store';
import type { ToolServerStore } from './tool-server-store';

export interface LaunchToolsDependencies {
  toolServers: Pick<ToolServerStore, 'definition'>;
  toolCatalogs: Pick<ToolCatalogStore, 'get' | 'open'>;
  toolDiscoverer: {
    discover(definition: ToolServerDefinition, options: { signal: AbortSignal }): Promise<ToolDiscovery>;
  };
  hostId: string;
  now(): Date;
}

type Named = Pick<AgentConfig, 'toolServers'>;

/** The most that a catalog may have, as JSON in bytes: it is one document of the stores. */
const catalogLimitBytes = 8_388_608;

/**
 * The tool servers of a launch with what they offer on this host; `undefined` for a launch without any. A required one that cannot be
 * used refuses the launch, an optional one is degraded (specification 2, Tool control plane).
 *
 * @param patienceMs how long a caller waits for servers that start; they are waited for when absent
 */
export async function launchTools(
  deps: Omit<LaunchToolsDependencies, 'toolCatalogs'>,
  { toolServers = [] }: Named,
  { signal, patienceMs }: { signal: AbortSignal; patienceMs?: number },
): Promise<CatalogServer[] | undefined | Refusal> {
  if (toolServers.length === 0) {
    return undefined;
  }
  const found = await Promise.all(
    toolServers.map((id) => serverOf(deps, id, { signal, ...(patienceMs === undefined ? {} : { patienceMs }) })),
  );
  const refused = found.find((each): each is Refusal => 'code' in each);
  if (refused) {
    return refused;
  }
  const servers = found as CatalogServer[];
  const bytes = Buffer.byteLength(JSON.stringify(servers));
  if (bytes > catalogLimitBytes) {
    return refusal(
      'TOOL_CATALOG_TOO_LARGE',
      `The tools of the launch have ${bytes} bytes in all; ${catalogLimitBytes} are stored.`,
      {
        bytes,
        limitBytes: catalogLimitBytes,
        remediation: 'Name fewer tool servers in the configuration of the agent, or in the profile.',
      },
    );
  }
  return servers;
}

/** The catalog of an attempt: stored before its contract is compiled, and the stored one when it is prepared again. */
export async function attemptTools(
  deps: LaunchToolsDependencies,
  { _id: attemptId, taskId, agentConfig }: { _id: string; taskId: string; agentConfig: Named },
  signal: AbortSignal,
): Promise<CatalogServer[] | undefined | Refusal> {
  const servers =
    (await deps.toolCatalogs.get(attemptId))?.servers ?? (await launchTools(deps, agentConfig, { signal }));
  if (servers === undefined || 'code' in servers) {
    return servers;
  }
  const catalog = await deps.toolCatalogs.open({
    schemaVersion: 'run-tool-catalog/v1',
    taskId,
    attemptId,
    hostId: deps.hostId,
    createdAt: deps.now().toISOString(),
    servers,
    digest: catalogDigestOf(servers),
  });
  return catalog.servers;
}

async function serverOf(
  { toolServers, toolDiscoverer, hostId }: Omit<LaunchToolsDependencies, 'toolCatalogs'>,
  serverId: string,
  { signal, patienceMs }: { signal: AbortSignal; patienceMs?: number },
): Promise<CatalogServer | Refusal> {
  const definition = await toolServers.definition(serverId);
  if (!definition) {
    return unavailable(hostId, serverId, {
      code: 'unknown',
      message: `No tool server has the id ${serverId}.`,
      remedy: 'Create it with POST /api/tool-servers, or take it out of toolServers of the agent or the profile.',
    });
  }
  const found = definition.enabled
    ? await discovered(toolDiscoverer.discover(definition, { signal }), definition, patienceMs)
    : disabled(definition);
  if (found.error && definition.requirement === 'required') {
    return unavailable(hostId, serverId, found.error);
  }
  return catalogServerOf(definition, found);
}

type Found = Pick<ToolDiscovery, 'state' | 'tools'> & { error?: { code: string; message: string; remedy: string } };

async function discovered(
  discovery: Promise<ToolDiscovery>,
  { displayName }: ToolServerDefinition,
  patienceMs?: number,
): Promise<Found> {
  if (patienceMs === undefined) {
    return discovery;
  }
  const late = new Error('late');
  try {
    return await within(patienceMs, late, discovery);
  } catch (error) {
    if (error !== late) {
      throw error;
    }
    return failed({
      code: 'starting',
      message: `The tool server ${displayName} is still being started.`,
      remedy: 'Ask again, or launch: a launch waits as long as startupTimeoutMs of the definition.',
    });
  }
}

const disabled = ({ id, displayName }: ToolServerDefinition): Found =>
  failed({
    code: 'disabled',
    message: `The tool server ${displayName} is disabled.`,
    remedy: `Enable it with PUT /api/tool-servers/${id}.`,
  });

const failed = (error: NonNullable<Found['error']>): Found => ({ state: 'failed', tools: [], error });

const unavailable = (hostId: string, serverId: string, { code, message, remedy }: NonNullable<Found['error']>) =>
  refusal('TOOL_SERVER_UNAVAILABLE', `A required tool server cannot be used on the host ${hostId}. ${message}`, {
    hostId,
    serverId,
    reason: code,
    remediation: remedy,
  });
