import type { Refusal } from '../../contracts/refusal';
import type { AgentCheck, CheckFinding } from '../../contracts/settings/agent-check';
import { refusal } from '../../domain/refusal';
import { compact } from '../../platform/json/compact';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { ProviderRegistry } from '../../providers/agents/registry';
import type { AgentConfigStore } from '../../stores/settings/agent-config-store';
import type { AgentCheckInput } from '../../workflows/agent-check/messages';
import { agentCheckMessage } from '../../workflows/message-proofs';
import type { AgentProbing } from '../agent-run/prepare/probing';

export interface AgentCheckDependencies {
  agents: Pick<AgentConfigStore, 'find'>;
  providers: ProviderRegistry;
  /** Records what the session offers, beside a probe of the same configuration. */
  probing: Pick<AgentProbing, 'look' | 'offered' | 'checkedLogin'>;
  hostId: string;
  /** A check starts a program: only the API's are done. */
  proofs: ProofVerifier;
  now: () => Date;
}

const logins = { ok: true, failed: false, skipped: null } as const;

/** Whether the agent was let in; a step that was skipped shows nothing. */
const loginOf = (findings: readonly CheckFinding[]): boolean | null =>
  logins[findings.find(({ step }) => step === 'authentication')?.status ?? 'skipped'];

export function createAgentCheckActivities({
  agents,
  providers,
  probing,
  hostId,
  proofs,
  now,
}: AgentCheckDependencies) {
  return {
    /** Starts the agent, step by step, and ends it. Changes nothing but what is known of its offer and login. */
    async checkAgent({ proof, ...checked }: AgentCheckInput): Promise<AgentCheck | Refusal> {
      await proofs.require(agentCheckMessage(checked), proof);
      const { agentType } = checked;
      const agent = await agents.find(agentType);
      if (!agent) {
        return refusal('AGENT_UNKNOWN', `There is no agent ${agentType}.`, { agent: agentType });
      }
      const check = providers.find(agent.provider)?.check;
      if (!check) {
        const message = `An agent of the provider ${agent.provider} is started elsewhere; no host can check it.`;
        return refusal('AGENT_NOT_CHECKABLE', message, { agent: agentType, provider: agent.provider });
      }
      const { findings, offer } = await withHeartbeat(() => check(agent));
      const checkedAt = now().toISOString();
      await probing.look(agent);
      if (offer) {
        await probing.offered(agent, offer);
      }
      await probing.checkedLogin(agent, loginOf(findings));
      const ok = findings.every(({ status }) => status !== 'failed');
      return {
        agentType,
        hostId,
        checkedAt,
        ok,
        findings,
        ...compact({ offer: offer && { ...offer, observedAt: checkedAt } }),
      };
    },
  };
}

export type AgentCheckActivities = ReturnType<typeof createAgentCheckActivities>;
