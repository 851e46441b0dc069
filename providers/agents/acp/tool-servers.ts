import type { McpServer } from '@agentclientprotocol/sdk/unstable';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import type { ToolServer } from '../../../contracts/settings/tool-server';
import { findCommand } from '../../../platform/processes/find-command';
import { agentEnvironment, type AgentHost } from '../local/agent-environment';
import type { AgentDispatch } from '../provider';
import { AcpFailure } from './failure';

/**
 * The tool servers of an agent with their credentials, as a session is given them; variables that are not set are left out, and so
 * are optional servers that the agent does not take or that have no program.
 *
 * @param transports the types of remote servers that the agent takes; every agent takes programs
 * @throws AcpFailure when the agent does not take the type of a required server, or its program is not on the host
 */
export function toolServersFor(
  { mcpServers = [] }: Pick<AgentConfig, 'mcpServers'>,
  host: AgentHost,
  transports: Transports,
): SessionToolServers {
  const found: SessionToolServers = { servers: [], leftOut: [] };
  for (const server of mcpServers) {
    try {
      found.servers.push(passed(server, host, transports));
    } catch (error) {
      if (!(error instanceof AcpFailure) || server.requirement !== 'optional') {
        throw error;
      }
      found.leftOut.push(error.reason);
    }
  }
  return found;
}

/**
 * The tools of the run as one server of the session, for an agent that takes servers of the type `http`. Any other has the file that
 * `BOARD_TOOL_BRIDGE` names, as agents of other families have.
 */
export const bridgeServers = (
  { toolBridge }: Pick<AgentDispatch, 'toolBridge'>,
  transports: Transports,
): McpServer[] =>
  toolBridge && transports?.http === true
    ? [
        {
          type: 'http',
          name: 'runboard',
          url: toolBridge.mcpUrl,
          headers: [{ name: 'Authorization', value: `Bearer ${toolBridge.handle}` }],
        },
      ]
    : [];

/** The tool servers of a session, and why optional ones are not among them. */
interface SessionToolServers {
  servers: McpServer[];
  leftOut: string[];
}

type Transports = { http?: boolean | undefined; sse?: boolean | undefined } | null | undefined;

function passed(server: ToolServer, host: AgentHost, transports: Transports): McpServer {
  if (server.type !== 'stdio' && transports?.[server.type] !== true) {
    const cause = `The agent takes no tool server of the type ${server.type} (${server.name})`;
    throw new AcpFailure('tool-servers-refused', cause, 'take it out of mcpServers, or configure another type.');
  }
  return server.type === 'stdio' ? program(server, host) : remote(server, host);
}

function program({ name, command, args, environmentKeys }: ToolServer & { type: 'stdio' }, host: AgentHost): McpServer {
  const { variables } = agentEnvironment(host, []);
  const found = findCommand(command, variables.PATH ?? '');
  if ('problem' in found) {
    const remedy = 'install it on the host, or take the tool server out of mcpServers.';
    throw new AcpFailure('tool-servers-refused', `The tool server ${name} has no program (${found.problem})`, remedy);
  }
  const env = valuesOf(environmentKeys, host).map(([key, value]) => ({ name: key, value }));
  return { name, command: found.path, args, env };
}

function remote({ type, name, url, headers }: Exclude<ToolServer, { type: 'stdio' }>, host: AgentHost): McpServer {
  const given = headers.flatMap(({ name: header, environmentKey, prefix = '' }) =>
    valuesOf([environmentKey], host).map(([, value]) => ({ name: header, value: `${prefix}${value}` })),
  );
  return { type, name, url, headers: given };
}

function valuesOf(keys: readonly string[], host: AgentHost): [string, string][] {
  const { variables } = agentEnvironment(host, keys);
  return keys.flatMap((key): [string, string][] => {
    const value = variables[key];
    return value === undefined ? [] : [[key, value]];
  });
}
