import type { CatalogServer, CatalogTool, ToolCatalog } from '../../contracts/integrations/tool-catalog';
import { findTool } from '../../domain/tool-servers/catalog';
import { toolServerChanged } from '../../domain/tool-servers/refusals';
import { AppError, conflict, validationError } from '../../platform/errors/app-error';
import { compileUntrustedSchema, type SchemaIssue, UntrustedSchemaError } from '../../platform/json/untrusted-schema';
import type { ToolServerStore } from './tool-server-store';

/** The tool of a call, with the server that has it. */
export interface CalledTool {
  server: CatalogServer;
  tool: CatalogTool;
}

/** Schemas are bounded when they are discovered, by less. */
const schemaBounds = { maxBytes: 131_072 };

/**
 * The called tool, which the definition of its server does not deny.
 *
 * @throws AppError 404 for one that the catalog does not have, 409 `TOOL_SERVER_DEGRADED`, 403 `TOOL_DENIED`
 */
export function calledTool(
  catalog: Pick<ToolCatalog, 'servers' | 'digest'>,
  { serverId, tool: name }: { serverId: string; tool: string },
): CalledTool {
  const found = findTool(catalog, serverId, name);
  const server = catalog.servers.find((each) => each.serverId === serverId);
  if (server?.state === 'degraded') {
    const message = `The tool server ${serverId} is degraded in this run: ${server.reason?.message ?? ''}`;
    throw conflict(message, { serverId, reason: server.reason }, 'TOOL_SERVER_DEGRADED');
  }
  if (!found) {
    throw new AppError('NOT_FOUND', {
      status: 404,
      message: `The catalog of the run has no tool ${JSON.stringify(name)} of ${serverId}.`,
      details: { serverId, tool: name, catalogDigest: catalog.digest },
    });
  }
  if (found.tool.policy === 'denied') {
    throw new AppError('TOOL_DENIED', {
      status: 403,
      message: `The definition of ${serverId} denies the tool ${name}.`,
      details: { serverId, tool: name },
    });
  }
  return found;
}

/** @throws AppError 409 `TOOL_DEFINITION_CHANGED` when the definition is not the one of the catalog any more, or is disabled */
export async function assertUnchanged(
  { toolServers }: { toolServers: Pick<ToolServerStore, 'definition'> },
  { serverId, definitionDigest }: CatalogServer,
): Promise<void> {
  const definition = await toolServers.definition(serverId);
  if (definition?.enabled === true && definition.digest === definitionDigest) {
    return;
  }
  const { message, remedy } = toolServerChanged(serverId);
  const current = definition ? { digest: definition.digest, enabled: definition.enabled } : null;
  throw conflict(`${message} ${remedy}`, { serverId, definitionDigest, current }, 'TOOL_DEFINITION_CHANGED');
}

/** @throws AppError 400 with the paths of arguments that the schema of the tool does not accept */
export function assertArguments({ inputSchema }: CatalogTool, values: Record<string, unknown>): void {
  let issues: SchemaIssue[];
  try {
    issues = compileUntrustedSchema(inputSchema, schemaBounds)(values);
  } catch (error) {
    if (!(error instanceof UntrustedSchemaError)) {
      throw error;
    }
    issues = [{ path: '', message: `cannot be checked by the schema of the tool: ${error.message}` }];
  }
  if (issues.length > 0) {
    throw validationError(
      issues.map(({ path, message }) => ({ path: `arguments${path.replaceAll('/', '.')}`, message })),
    );
  }
}
