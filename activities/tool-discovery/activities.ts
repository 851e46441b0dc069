import { Context } from '@temporalio/activity';
import type { ToolDiscovery } from '../../contracts/integrations/tool-server';
import type { Refusal } from '../../contracts/refusal';
import { refusal } from '../../domain/refusal';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { ToolServerStore } from '../../stores/integrations/tool-server-store';
import { toolDiscoveryMessage } from '../../workflows/message-proofs';
import type { ToolDiscoveryInput } from '../../workflows/tool-discovery/messages';
import type { ToolDiscoverer } from './discover';

export interface ToolDiscoveryDependencies {
  servers: Pick<ToolServerStore, 'definition'>;
  discoverer: Pick<ToolDiscoverer, 'discover'>;
  /** A discovery starts a program: only the API's are done. */
  proofs: ProofVerifier;
}

export function createToolDiscoveryActivities({ servers, discoverer, proofs }: ToolDiscoveryDependencies) {
  return {
    /** Lists the tools of a server and records them; a repetition returns what an earlier try recorded. */
    async discoverTools({
      proof,
      ...discovered
    }: Omit<ToolDiscoveryInput, 'heartbeatTimeoutMs'>): Promise<ToolDiscovery | Refusal> {
      await proofs.require(toolDiscoveryMessage(discovered), proof);
      const { serverId, definitionDigest, requestedAt: since } = discovered;
      const definition = await servers.definition(serverId);
      if (definition?.digest !== definitionDigest) {
        const message = `The definition of the tool server ${serverId} was changed meanwhile; nothing was started.`;
        return refusal('TOOL_SERVER_CHANGED', message, { serverId, definitionDigest: definition?.digest ?? null });
      }
      // An earlier try may have recorded its result, and died before it could return it.
      const bypassCache = Context.current().info.attempt === 1;
      const discovery = await withHeartbeat((signal) =>
        discoverer.discover(definition, { bypassCache, since, signal }),
      );
      // What this request had discovered is no result of an earlier one.
      return { ...discovery, cached: false };
    },
  };
}

export type ToolDiscoveryActivities = ReturnType<typeof createToolDiscoveryActivities>;
