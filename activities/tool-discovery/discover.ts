import type { ToolDiscovery, ToolServerDefinition } from '../../contracts/integrations/tool-server';
import { runExclusive } from '../../platform/operations/keyed-mutex';
import { openToolServer } from '../../providers/tool-servers/open-tool-server';
import {
  type ToolServerConnection,
  type ToolServerEnvironment,
  ToolServerError,
} from '../../providers/tool-servers/tool-server';
import type { ToolDiscoveryStore } from '../../stores/integrations/tool-discovery-store';

export interface ToolDiscovererDependencies {
  discoveries: Pick<ToolDiscoveryStore, 'find' | 'record'>;
  environment: ToolServerEnvironment;
  hostId: string;
  now: () => Date;
}

interface DiscoverOptions {
  /** Starts the server although its tools are stored. */
  bypassCache?: boolean;
  /** Takes what is stored, a failure too, only when it was discovered at this time or later. */
  since?: string;
  signal: AbortSignal;
}

/** Discovers the tools of servers on this host. One definition is discovered once at a time. */
export function createToolDiscoverer({ discoveries, environment, hostId, now }: ToolDiscovererDependencies) {
  const failed = (error: unknown): Pick<ToolDiscovery, 'state' | 'error'> => {
    if (error instanceof ToolServerError && error.code !== 'aborted') {
      const { code, message, remedy } = error;
      return { state: 'failed', error: { code, message, remedy } };
    }
    throw error;
  };

  async function ask(definition: ToolServerDefinition, signal: AbortSignal): Promise<Found> {
    let connection: ToolServerConnection | undefined;
    try {
      connection = await openToolServer(definition, environment);
      return { state: 'ready', server: connection.server, ...(await connection.listTools(signal)) };
    } catch (error) {
      return { server: connection?.server ?? null, tools: [], truncated: false, ...failed(error) };
    } finally {
      await connection?.close();
    }
  }

  return {
    environment,

    /**
     * The tools of a definition as its server lists them on this host: stored ones of the same definition, or those that the server
     * lists now. A server that cannot be used is a result with its reason.
     */
    discover(
      definition: ToolServerDefinition,
      { bypassCache = false, since, signal }: DiscoverOptions,
    ): Promise<ToolDiscovery> {
      const { id: serverId, digest: definitionDigest } = definition;
      return runExclusive(`tool-discovery/${hostId}/${definitionDigest}`, async () => {
        const stored = bypassCache ? undefined : await discoveries.find(definitionDigest, hostId);
        if (stored && (since === undefined ? stored.state === 'ready' : stored.discoveredAt >= since)) {
          return { ...stored, cached: true };
        }
        const found = await ask(definition, signal);
        const discovery = { serverId, definitionDigest, hostId, ...found, discoveredAt: now().toISOString() };
        await discoveries.record(discovery);
        return { ...discovery, cached: false };
      });
    },
  };
}

type Found = Pick<ToolDiscovery, 'state' | 'server' | 'tools' | 'truncated' | 'error'>;

export type ToolDiscoverer = ReturnType<typeof createToolDiscoverer>;
