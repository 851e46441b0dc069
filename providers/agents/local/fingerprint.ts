import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { findCommand } from '../../../platform/processes/find-command';
import { agentEnvironment, type AgentHost } from './agent-environment';

/**
 * A short name of the build of an agent: of its executable and the files its arguments name, by path, size and time of
 * change. Another one means that what was found out about it does not count any more.
 */
export function fingerprintOf(agent: AgentConfig, host: AgentHost): string {
  const { variables } = agentEnvironment(host, agent.environmentKeys);
  const command = findCommand(agent.command ?? '', variables.PATH ?? '');
  const paths = ['path' in command ? command.path : '', ...agent.args.filter((argument) => isAbsolute(argument))];
  const described = paths.map(describe);
  const keys = agent.environmentKeys.map((key) => `${key}:${variables[key] === undefined ? 'absent' : 'set'}`);
  return createHash('sha256')
    .update([...described, ...keys, ...(host.user ? [`user:${host.user.uid}`] : [])].join('\n'))
    .digest('hex')
    .slice(0, 16);
}

function describe(path: string): string {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile()) {
      return `${path} ${stats.size} ${stats.mtimeMs}`;
    }
  } catch {
    // A file that cannot be inspected is as good as absent.
  }
  return `${path} none`;
}
