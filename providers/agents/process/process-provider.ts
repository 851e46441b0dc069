import type { AgentConfig } from '../../../contracts/agent-config';
import type { AgentProvider, ProviderProbe } from '../provider';
import { agentEnvironment } from '../local/agent-environment';
import { fingerprintOf } from '../local/fingerprint';
import { endAttempt } from '../local/end-attempt';
import { findCommand } from '../local/find-command';
import { runLocal } from '../local/run-local';
import { converse } from './converse';
import { askVersion } from './version';

/**
 * Runs command-line agents that speak the process protocol (docs/agents.md).
 *
 * @param options.environment what agents may be given variables from
 */
export function createProcessProvider({
  environment = process.env,
}: { environment?: NodeJS.ProcessEnv } = {}): AgentProvider {
  return {
    family: 'process',
    fingerprint: (agent) => fingerprintOf(agent, environment),
    probe: (agent) => probe(agent, environment),
    run: (dispatch, sink, signal) => runLocal(dispatch, sink, signal, environment, converse),
    endOrphans: (attemptId, identity, graceMs) => endAttempt(attemptId, identity ? [identity] : [], graceMs),
  };
}

async function probe(agent: AgentConfig, environment: NodeJS.ProcessEnv): Promise<ProviderProbe> {
  const given = agentEnvironment(environment, agent.environmentKeys);
  const { variables } = given;
  const command = await findCommand(agent.command ?? '', variables.PATH ?? '');
  const missing = agent.environmentKeys.filter((key) => variables[key] === undefined);
  const notes = missing.map((key) => `The environment variable ${key} is not set on this host.`);
  if ('problem' in command) return { ok: false, diagnostics: [command.problem, ...notes] };
  const found = [`Found ${command.path}.`, ...notes];
  if (agent.versionArgs === undefined) return { ok: true, diagnostics: found };
  const said = await askVersion(command.path, agent.versionArgs, given);
  return 'version' in said
    ? { ok: true, version: said.version, diagnostics: found }
    : { ok: true, diagnostics: [...found, said.problem] };
}
