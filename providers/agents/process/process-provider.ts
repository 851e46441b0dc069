import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { createRedactor } from '../../../platform/log/redact';
import { findCommand } from '../../../platform/processes/find-command';
import { agentEnvironment, type AgentHost, missingVariables } from '../local/agent-environment';
import { agentFindings } from '../local/agent-findings';
import { CheckFindings } from '../local/check-findings';
import { endOrphans } from '../local/end-attempt';
import { fingerprintOf } from '../local/fingerprint';
import { foundSandbox } from '../local/found-sandbox';
import { reattachLocal, runLocal } from '../local/run-local';
import type { AgentProvider, ProviderCheck, ProviderProbe } from '../provider';
import { converse } from './converse';
import { askVersion } from './version';

/**
 * Runs command-line agents that speak the process protocol (docs/use/runs/agents.md).
 *
 * @param options.environment what agents may be given variables from
 * @param options.user who agents run as; the user of this process when absent
 */
export function createProcessProvider({
  environment = process.env,
  user,
  sandbox,
}: Partial<AgentHost> = {}): AgentProvider {
  const host = { environment, user, sandbox };
  return {
    family: 'process',
    fingerprint: (agent) => Promise.resolve(fingerprintOf(agent, host)),
    probe: (agent) => probe(agent, host),
    check: (agent) => check(agent, host),
    missingVariables: (agent) => missingVariables(agent, host),
    findings: (agent) => agentFindings(agent, host),
    run: (dispatch, sink, signal) => runLocal(dispatch, { sink, signal, host, converse }),
    reattach: ({ dispatch, orphan }, sink, signal) => reattachLocal(dispatch, orphan, { sink, signal, host, converse }),
    endOrphans,
  };
}

async function probe(agent: AgentConfig, host: AgentHost): Promise<ProviderProbe> {
  const environment = agentEnvironment(host, agent.environmentKeys);
  const { variables, refused } = environment;
  if (refused.length > 0) {
    return { ok: false, diagnostics: refused };
  }
  const command = findCommand(agent.command ?? '', variables.PATH ?? '');
  const missing = missingVariables(agent, host).map(
    (key) => `The environment variable ${key} is not set on this host.`,
  );
  if ('problem' in command) {
    return { ok: false, diagnostics: [command.problem, ...missing] };
  }
  const found = await foundSandbox(host);
  const notes = [...missing, ...(outlives(agent, host) === false ? [notHere] : []), ...found.diagnostics];
  const diagnostics = [`Found ${command.path}.`, ...notes];
  const shown = { ...found, ...(outlives(agent, host) === true ? { capabilities: ['run.reattach'] } : {}) };
  if (agent.versionArgs === undefined) {
    return { ok: true, ...shown, diagnostics };
  }
  const reported = await askVersion(command.path, agent.versionArgs, { environment, user: host.user });
  return 'version' in reported
    ? { ok: true, version: reported.version, ...shown, diagnostics }
    : { ok: true, ...shown, diagnostics: [...diagnostics, reported.problem] };
}

/** Its protocol has no more than a start: the program and its version are what there is to check. */
async function check(agent: AgentConfig, host: AgentHost): Promise<ProviderCheck> {
  const findings = new CheckFindings(createRedactor(agentEnvironment(host, agent.environmentKeys).secrets));
  const { ok, version, diagnostics } = await probe(agent, host);
  if (!ok) {
    const [first, ...others] = agentFindings(agent, host);
    findings.notInstalled([first ?? { code: 'agent-program-missing', message: diagnostics.join(' ') }, ...others]);
    return { findings: findings.all() };
  }
  findings.ok('installed', diagnostics.join(' '));
  if (version !== undefined) {
    findings.ok('version', version);
  } else if (agent.versionArgs === undefined) {
    findings.skipped('version', 'No versionArgs are configured.');
  } else {
    findings.failed('version', diagnostics.at(-1) ?? '', 'correct versionArgs, or run the command on the host.');
  }
  for (const step of ['handshake', 'authentication', 'session'] as const) {
    findings.skipped(step, 'Agents of the provider process have none.');
  }
  return { findings: findings.all() };
}

/**
 * Whether the agent can be re-attached: where processes show their environment, so that it is known to be that one. Streams
 * in files of another user would be files that user can exchange for links while we work with them.
 */
const outlives = ({ reattach }: AgentConfig, { user }: AgentHost): boolean | undefined =>
  reattach === true ? process.platform === 'linux' && user === undefined : undefined;

const notHere = 'This host does not re-attach it: that requires Linux, and agents that run as the user of the worker.';
