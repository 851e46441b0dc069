import type { AgentConfig } from '../contracts/settings/agent-config';
import type { Log } from '../platform/log/log';
import type { HostManifestStore } from '../stores/runs/hosts/host-manifest-store';
import type { AgentConfigStore } from '../stores/settings/agent-config-store';

export interface ProbingDependencies {
  hostId: string;
  agents: Pick<AgentConfigStore, 'read'>;
  manifests: Pick<HostManifestStore, 'get'>;
  /** Probes an agent, unless its last probe still counts. */
  look: (agent: AgentConfig) => Promise<void>;
  log: Log;
  now: () => Date;
}

/** Each workspace, with what its agents are probed with. */
export type ProbedWorkspaces = () => AsyncIterable<{ probing: ProbingDependencies }>;

/** How often the need for a probe is checked, in milliseconds. */
const everyMs = 10_000;

/** How long a failed probe counts before the next one, in milliseconds; it may have started the agent's program. */
const failedForMs = 30_000;

/**
 * Maintains the record of what this host's agents can do, for routing: an agent is probed when its configuration changes, every
 * five minutes, and every half minute while its probe fails.
 */
export function startProbing(workspaces: ProbedWorkspaces, log: Log): { close(): Promise<void> } {
  let closed = false;
  let round = Promise.resolve();
  const next = () => {
    round = round.then(probeAll).catch((error: unknown) => log.warn({ err: error }, 'agent probing failed'));
  };
  async function probeAll(): Promise<void> {
    for await (const { probing } of workspaces()) {
      if (closed) {
        return;
      }
      await probeDue(probing, () => closed);
    }
  }
  next();
  const timer = setInterval(next, everyMs);
  return {
    async close() {
      closed = true;
      clearInterval(timer);
      await round;
    },
  };
}

async function probeDue(deps: ProbingDependencies, stopped: () => boolean): Promise<void> {
  const { agents } = await deps.agents.read();
  for (const agent of agents) {
    if (stopped()) {
      return;
    }
    if (agent.enabled && (await isDue(deps, agent))) {
      await deps.look(agent).catch(notProbed(deps, agent));
    }
  }
}

const notProbed =
  ({ log }: ProbingDependencies, { type }: AgentConfig) =>
  (error: unknown) =>
    log.warn({ err: error, agent: type }, 'agent probe failed');

async function isDue({ manifests, hostId, now }: ProbingDependencies, agent: AgentConfig): Promise<boolean> {
  const recorded = await manifests.get(hostId, agent);
  if (recorded?.manifest.probe.state !== 'failed') {
    return true;
  }
  return now().getTime() - Date.parse(recorded.probedAt) >= failedForMs;
}
