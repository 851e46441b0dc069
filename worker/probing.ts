import type { AgentConfig } from '../contracts/agent-config';
import type { Log } from '../platform/log/log';
import type { AgentConfigStore } from '../stores/agent-config-store';
import type { HostManifestStore } from '../stores/host-manifest-store';

export interface ProbingDependencies {
  hostId: string;
  agents: Pick<AgentConfigStore, 'read'>;
  manifests: Pick<HostManifestStore, 'get'>;
  /** Probes an agent, unless what is known of it still counts. */
  look: (agent: AgentConfig) => Promise<void>;
  log: Log;
  now: () => Date;
}

/** How often it is looked whether an agent has to be probed, in milliseconds. */
const everyMs = 10_000;

/** How long a failed probe counts before the next one, in milliseconds; it may have started the agent's program. */
const failedForMs = 30_000;

/**
 * Keeps what this host's agents can do on record, so that routing knows it: an agent is probed when it is configured anew,
 * every five minutes, and every half minute while its probe fails.
 */
export function startProbing(deps: ProbingDependencies): { close(): Promise<void> } {
  let closed = false;
  let round = Promise.resolve();
  const next = () => {
    round = round
      .then(() => (closed ? undefined : probeDue(deps, () => closed)))
      .catch((error: unknown) => deps.log.warn({ err: error }, 'agents could not be probed'));
  };
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
    if (stopped()) return;
    if (agent.enabled && (await isDue(deps, agent))) await deps.look(agent).catch(notProbed(deps, agent));
  }
}

const notProbed =
  ({ log }: ProbingDependencies, { type }: AgentConfig) =>
  (error: unknown) =>
    log.warn({ err: error, agent: type }, 'the agent could not be probed');

async function isDue({ manifests, hostId, now }: ProbingDependencies, agent: AgentConfig): Promise<boolean> {
  const known = await manifests.get(hostId, agent);
  if (known?.manifest.probe.state !== 'failed') return true;
  return now().getTime() - Date.parse(known.probedAt) >= failedForMs;
}
