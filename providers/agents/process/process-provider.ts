import type { AgentConfig } from '../../../contracts/agent-config';
import type { AgentProvider, ProviderProbe } from '../provider';
import { agentEnvironment } from '../local/agent-environment';
import { fingerprintOf } from '../local/fingerprint';
import { endAttempt } from '../local/end-attempt';
import { findCommand } from '../local/find-command';
import { reattachLocal, runLocal } from '../local/run-local';
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
    fingerprint: (agent) => Promise.resolve(fingerprintOf(agent, environment)),
    probe: (agent) => probe(agent, environment),
    run: (dispatch, sink, signal) => runLocal(dispatch, sink, signal, environment, converse),
    reattach: (dispatch, found, sink, signal) => reattachLocal(dispatch, found, sink, signal, environment, converse),
    endOrphans: (attemptId, identity, graceMs) => endAttempt(attemptId, identity ? [identity] : [], graceMs),
  };
}

async function probe(agent: AgentConfig, environment: NodeJS.ProcessEnv): Promise<ProviderProbe> {
  const given = agentEnvironment(environment, agent.environmentKeys);
  const { variables, refused } = given;
  if (refused.length > 0) return { ok: false, diagnostics: refused };
  const command = findCommand(agent.command ?? '', variables.PATH ?? '');
  const missing = agent.environmentKeys.filter((key) => variables[key] === undefined);
  const notes = missing.map((key) => `The environment variable ${key} is not set on this host.`);
  if ('problem' in command) return { ok: false, diagnostics: [command.problem, ...notes] };
  const found = [`Found ${command.path}.`, ...notes, ...(outlives(agent) === false ? [notHere] : [])];
  const capabilities = outlives(agent) === true ? { capabilities: ['run.reattach'] } : {};
  if (agent.versionArgs === undefined) return { ok: true, ...capabilities, diagnostics: found };
  const said = await askVersion(command.path, agent.versionArgs, given);
  return 'version' in said
    ? { ok: true, version: said.version, ...capabilities, diagnostics: found }
    : { ok: true, ...capabilities, diagnostics: [...found, said.problem] };
}

/** Whether the agent can be re-attached: where processes show their environment, so that it is known to be that one. */
const outlives = ({ reattach }: AgentConfig): boolean | undefined =>
  reattach === true ? process.platform === 'linux' : undefined;

const notHere = 'It is not re-attached on this host: that takes Linux.';
