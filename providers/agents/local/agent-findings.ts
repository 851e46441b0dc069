import type { LaunchFinding } from '../../../contracts/runs/launch/manifest';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import type { ToolServer } from '../../../contracts/settings/tool-server';
import { agentPresets } from '../../../domain/agents/presets';
import { toolServerMissing } from '../../../domain/agents/tool-server-findings';
import { compact } from '../../../platform/json/compact';
import { findCommand } from '../../../platform/processes/find-command';
import { agentEnvironment, type AgentHost } from './agent-environment';

/**
 * What prevents the agent from being started on this host as it is configured, and which of its tool servers have no program; found
 * without starting one.
 */
export function agentFindings(agent: AgentConfig, host: AgentHost): LaunchFinding[] {
  const { variables, refused } = agentEnvironment(host, agent.environmentKeys);
  const withheld = refused.map((message) => ({
    code: 'environment-withheld',
    message,
    remedy: 'Take the name out of environmentKeys of the agent.',
  }));
  return [
    ...programFindings(agent, variables.PATH),
    ...withheld,
    ...(agent.mcpServers ?? []).flatMap(toolServerFindings),
  ];

  function toolServerFindings(server: ToolServer): LaunchFinding[] {
    if (server.type !== 'stdio') {
      return [];
    }
    const { PATH } = agentEnvironment(host, []).variables;
    const remedy = 'Install it on the host for the user that agents run as, or take the tool server out of mcpServers.';
    const isOptional = server.requirement === 'optional';
    return missing(server.command, PATH, {
      code: `${isOptional ? 'tool-server-left-out' : toolServerMissing}:${server.name}`,
      subject: `The ${isOptional ? 'optional ' : ''}tool server ${server.name} has no program: `,
      remedy,
    });
  }
}

const programFindings = ({ command = '' }: AgentConfig, searchPath: string | undefined): LaunchFinding[] =>
  missing(command, searchPath, { code: 'agent-program-missing', subject: '', remedy: installRemedy(command) });

function missing(
  command: string,
  searchPath: string | undefined,
  { code, subject, remedy }: { code: string; subject: string; remedy: string },
): LaunchFinding[] {
  const found = findCommand(command, searchPath ?? '');
  if ('path' in found) {
    return [];
  }
  const { problem, searched } = found;
  return [{ code, message: `${subject}${problem}`, program: command, ...compact({ searched }), remedy }];
}

/** How a program of an agent is installed: by name where it is one of the presets. */
function installRemedy(command: string): string {
  const preset = agentPresets.find((candidate) => candidate.command === command);
  const [newest] = preset?.packages ?? [];
  const how =
    newest === undefined
      ? (preset?.requirements.find((text) => text.includes('install')) ?? '')
      : `For example with npm install --global ${newest.name}.`;
  return `Install ${command || 'it'} on the host for the user that agents run as, or set command to its absolute path. ${how}`.trim();
}
