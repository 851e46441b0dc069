import type { WorkflowToolCatalog } from '../../../contracts/integrations/workflow-tools';
import type { Refusal } from '../../../contracts/refusal';
import { refusal } from '../../../domain/refusal';
import { catalogDigestOf } from '../../../domain/tool-servers/catalog';
import { launchTools, type LaunchToolsDependencies } from '../launch-tools';
import type { HeldToolCatalog, WorkflowToolCatalogStore } from '../tool-catalog-store';
import type { ToolHolder } from './holder';

export interface OpenCatalogDependencies extends Omit<LaunchToolsDependencies, 'toolCatalogs'> {
  workflowToolCatalogs: WorkflowToolCatalogStore;
}

/**
 * The catalog of a run of a workflow: compiled when it is opened first, and the stored one from then on.
 *
 * @returns a refusal when a required server cannot be used, or the run has a catalog of other servers
 */
export async function openWorkflowCatalog(
  deps: OpenCatalogDependencies,
  { holder, runId }: ToolHolder,
  { toolServers, signal }: { toolServers: readonly string[]; signal: AbortSignal },
): Promise<HeldToolCatalog | Refusal> {
  const stored = await deps.workflowToolCatalogs.get(holder);
  const servers = stored?.servers ?? (await launchTools(deps, { toolServers: [...toolServers] }, { signal })) ?? [];
  if ('code' in servers) {
    return servers;
  }
  const catalog = await deps.workflowToolCatalogs.open({
    ...{ schemaVersion: 'workflow-tool-catalog/v1', holder, runId, hostId: deps.hostId },
    ...{ createdAt: deps.now().toISOString(), servers, digest: catalogDigestOf(servers) },
  });
  const names = catalog.servers.map(({ serverId }) => serverId);
  const others = toolServers.filter((id) => !names.includes(id));
  return others.length === 0
    ? catalog
    : refusal('TOOL_CATALOG_MISMATCH', 'The run has a catalog of other tool servers, which never changes.', {
        ...{ runId, missing: others, current: { toolServers: names, catalogDigest: catalog.digest } },
      });
}

/** A catalog as callers read it. */
export const presentCatalog = ({ holder: _holder, ...catalog }: HeldToolCatalog): WorkflowToolCatalog => catalog;
