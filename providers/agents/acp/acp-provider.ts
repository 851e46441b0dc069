import type { AgentConfig } from '../../../contracts/agent-config';
import { fingerprintOf } from '../local/fingerprint';
import { endAttempt } from '../local/end-attempt';
import { runLocal, type Channel } from '../local/run-local';
import type { AgentProvider } from '../provider';
import { peopleDecider } from './ask-people';
import { converse } from './converse';
import { policyDecider, type PermissionDecider } from './permission';
import { probeAcp } from './probe';

export interface AcpOptions {
  /** What agents may be given variables from. */
  environment?: NodeJS.ProcessEnv;
  /** Who decides what an agent may do when it asks; its configuration when absent. */
  deciderOf?: (agent: AgentConfig, channel: Channel) => PermissionDecider;
}

/** Runs agents that speak the Agent Client Protocol over their standard streams (docs/agents.md). */
export function createAcpProvider({
  environment = process.env,
  deciderOf = configuredDecider,
}: AcpOptions = {}): AgentProvider {
  return {
    family: 'acp',
    fingerprint: (agent) => Promise.resolve(fingerprintOf(agent, environment)),
    probe: (agent) => probeAcp(agent, environment),
    run: (dispatch, sink, signal) =>
      runLocal(dispatch, sink, signal, environment, (channel) =>
        converse(channel, dispatch, deciderOf(dispatch.agent, channel)),
      ),
    endOrphans: (attemptId, identity, graceMs) => endAttempt(attemptId, identity ? [identity] : [], graceMs),
  };
}

/** People are asked unless the configuration has decided; where nobody can be asked, the answer is no. */
function configuredDecider({ permissions = 'ask' }: AgentConfig, { sink, recorder }: Channel): PermissionDecider {
  if (permissions !== 'ask') return policyDecider(permissions);
  if (!sink.decide) return policyDecider('reject');
  return peopleDecider(sink.decide.bind(sink), (text) => recorder.redacted(text));
}
