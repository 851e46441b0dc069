import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { type AgentHost, missingVariables } from '../local/agent-environment';
import { agentFindings } from '../local/agent-findings';
import { endOrphans } from '../local/end-attempt';
import { fingerprintOf } from '../local/fingerprint';
import { type Channel, runLocal } from '../local/run-local';
import type { AgentProvider } from '../provider';
import { checkAcp } from './check';
import { converse } from './converse';
import { type PermissionDecider, policyDecider } from './permission';
import { createPermissionDecider } from './permission-requests';
import { probeAcp } from './probe';

export interface AcpOptions extends Partial<AgentHost> {
  /** Who decides what an agent may do when it asks; its configuration when absent. */
  deciderOf?: (agent: AgentConfig, channel: Channel) => PermissionDecider;
}

/** Runs agents that speak the Agent Client Protocol over their standard streams (docs/use/runs/agents.md). */
export function createAcpProvider({
  environment = process.env,
  user,
  sandbox,
  deciderOf = configuredDecider,
}: AcpOptions = {}): AgentProvider {
  const host = { environment, user, sandbox };
  return {
    family: 'acp',
    fingerprint: (agent) => Promise.resolve(fingerprintOf(agent, host)),
    probe: (agent) => probeAcp(agent, host),
    check: (agent) => checkAcp(agent, host),
    missingVariables: (agent) => missingVariables(agent, host),
    findings: (agent) => agentFindings(agent, host),
    run: (dispatch, sink, signal) =>
      runLocal(dispatch, {
        sink,
        signal,
        host,
        converse: (channel) =>
          converse(channel, dispatch, {
            host,
            decider: deciderOf(dispatch.agent, channel),
            people: configuredDecider({ ...dispatch.agent, permissions: 'ask' }, channel),
          }),
      }),
    endOrphans,
  };
}

/** People are asked unless the configuration has decided; where no one can be asked, the request is rejected. */
function configuredDecider({ permissions = 'ask' }: AgentConfig, { sink, recorder }: Channel): PermissionDecider {
  if (permissions !== 'ask') {
    return policyDecider(permissions);
  }
  if (!sink.decide) {
    return policyDecider('reject');
  }
  return createPermissionDecider(sink.decide.bind(sink), (text) => recorder.redacted(text));
}
