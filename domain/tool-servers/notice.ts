import type { CatalogServer } from '../../contracts/integrations/tool-catalog';
import type { TransportSection } from '../../contracts/runs/launch/contract';
import { catalogDigestOf } from './catalog';

/** The section about its tools for an agent: their names and how they are called, without texts of the servers. */
export function toolsNotice(servers: readonly CatalogServer[]): TransportSection {
  const lines = servers.map(({ serverId, state, tools }) =>
    state === 'degraded'
      ? `- ${serverId}: not available in this run`
      : `- ${serverId}: ${tools
          .filter(({ policy }) => policy !== 'denied')
          .map(({ name, policy }) => (policy === 'approval-required' ? `${name} (needs an approval)` : name))
          .join(', ')}`,
  );
  return {
    id: 'tool-servers',
    title: 'Tools',
    source: `tool-catalog:${catalogDigestOf(servers)}`,
    text: `${how}\n\n${lines.join('\n')}`,
  };
}

const how =
  'These tools are called through the board, which applies its rules to each call. The file named in BOARD_TOOL_BRIDGE has the ' +
  'address of a server of the Model Context Protocol (mcpUrl) with all of them, whose names are <server>__<tool> there, and the ' +
  'handle to send as a bearer token; read it again after a response 401, since the handle is another one after a restart. ' +
  'Without such a client: POST to callUrl {operationId, serverId, tool, arguments}, with a new ' +
  'operationId for each call and the same one to repeat a request.';
