import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { toolServerKeys } from '../../../contracts/settings/tool-server';
import { withheldBecause } from '../../../contracts/settings/withheld-variables';
import type { SandboxHost } from '../../sandbox/sandbox-host';
import { type AgentUser, userEnvironment } from '../user/agent-user';

/** What every program needs to find its files, its user and its language; nothing in it is the service's own. */
const inherited = /^(?:PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LC_[A-Z]+)$/;

/** Where agents are started from: what they may be given variables of, and who they run as. */
export interface AgentHost {
  /** The environment of this process. */
  environment: NodeJS.ProcessEnv;
  /** This process's user when absent. */
  user?: AgentUser | undefined;
  /** What confines agents here; nothing when absent. */
  sandbox?: SandboxHost | undefined;
}

export interface AgentEnvironment {
  variables: Record<string, string>;
  /** Values that were passed on by name: they are credentials more often than not, and hidden in what is recorded. */
  secrets: string[];
  /** Why the agent is not started with what its configuration requests: sentences for a person. */
  refused: string[];
}

/**
 * The environment of an agent: an allow-list of common variables, the ones its configuration names, and its own.
 *
 * @param host where it is started
 * @param keys names from the agent's configuration; absent ones are left out
 * @param own `BOARD_*` variables that describe its task to the agent
 */
export function agentEnvironment(
  { environment: source, user }: AgentHost,
  keys: readonly string[],
  own: Record<string, string> = {},
): AgentEnvironment {
  const variables = Object.entries(source).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const inheritedOnes = Object.fromEntries(variables.filter(([name]) => inherited.test(name)));
  const common = user ? userEnvironment(inheritedOnes, user) : inheritedOnes;
  const allowed = variables.filter(([name]) => keys.includes(name) && withheldBecause(name) === undefined);
  return {
    // Agents write to pipes; one that believes in a terminal fills its lines with colours and cursor movements.
    variables: { ...common, TERM: 'dumb', ...Object.fromEntries(allowed), ...own },
    refused: keys.flatMap((name) => {
      const reason = withheldBecause(name);
      return reason === undefined ? [] : [`The environment variable ${name} ${reason}; agents are not given it.`];
    }),
    secrets: allowed.filter(([name]) => !inherited.test(name)).map(([, value]) => value),
  };
}

/** Names from the agent's configuration that it would not be given, since they are not set where it is started. */
export function missingVariables(
  { environmentKeys, mcpServers = [] }: Pick<AgentConfig, 'environmentKeys' | 'mcpServers'>,
  host: AgentHost,
): string[] {
  const keys = [...new Set([...environmentKeys, ...mcpServers.flatMap(toolServerKeys)])];
  const { variables } = agentEnvironment(host, keys);
  return keys.filter((key) => variables[key] === undefined);
}

/** Values of the worker's variables that the agent's tool servers are given: credentials more often than not. */
export const toolServerSecrets = ({ mcpServers = [] }: Pick<AgentConfig, 'mcpServers'>, host: AgentHost): string[] =>
  agentEnvironment(host, mcpServers.flatMap(toolServerKeys)).secrets;
