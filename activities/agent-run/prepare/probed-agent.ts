import type { Refusal } from '../../../contracts/refusal';
import type { LaunchRequest } from '../../../contracts/runs/launch/launch';
import type { LaunchFinding } from '../../../contracts/runs/launch/manifest';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { refusal } from '../../../domain/refusal';
import { compact } from '../../../platform/json/compact';
import type { AgentCircuit } from '../../../stores/runs/hosts/host-manifest-store';
import { type AgentProbing, type Probed, StillProbingError } from './probing';
import { notOffered } from './session-offer';
import { toolServerProblem } from './tool-server-problem';

interface Dependencies {
  probe: AgentProbing['probe'];
  hostId: string;
  /** What prevents the agent from being started on this host. */
  agentFindings: (agent: AgentConfig) => readonly LaunchFinding[];
  now(): Date;
}

/** What the agent of a launch can do on this host, or why it is not launched here. */
export async function probedAgent(
  deps: Dependencies,
  agent: AgentConfig,
  { request, patienceMs }: { request: Pick<LaunchRequest, 'model'>; patienceMs?: number },
): Promise<Probed | Refusal> {
  const probe = await waited(deps, agent, patienceMs);
  if ('status' in probe) {
    return probe;
  }
  const { manifest, circuit } = probe;
  if (circuit.state === 'open') {
    return heldBack(agent, circuit, deps.now());
  }
  if (manifest.probe.state !== 'failed') {
    return toolServerProblem(deps, agent) ?? notOffered(agent, request, probe.offer) ?? probe;
  }
  const { diagnostics } = manifest.probe;
  const recorded = deps.agentFindings(agent);
  const findings = recorded.length > 0 ? recorded : [notStarting(agent, diagnostics)];
  return refusal('AGENT_UNAVAILABLE', `Agent ${agent.type} cannot be started on this host: ${diagnostics.join('; ')}`, {
    agent: agent.type,
    diagnostics,
    findings,
    remediation: findings[0]?.remedy,
  });
}

/** Its program is there, and fails. */
const notStarting = ({ type, command }: AgentConfig, diagnostics: readonly string[]): LaunchFinding => ({
  code: 'agent-not-starting',
  message: diagnostics.join(' '),
  ...compact({ program: command }),
  remedy: `Check it step by step with POST /api/config/agents/${type}/check, or run it on its host.`,
});

async function waited(deps: Dependencies, agent: AgentConfig, patienceMs?: number): Promise<Probed | Refusal> {
  try {
    return await deps.probe(agent, patienceMs);
  } catch (error) {
    if (error instanceof StillProbingError) {
      return stillStarting(agent);
    }
    throw error;
  }
}

/** How long a preview waits for an agent to start for its probe, in milliseconds. */
export const previewPatienceMs = 15_000;

/** Its first start may download a package; a launch waits for it. */
const stillStarting = (agent: AgentConfig): Refusal =>
  refusal('AGENT_STARTING', `Agent ${agent.type} is still being started on its host for the first time.`, {
    agent: agent.type,
    retryAfterMs: 5_000,
    remediation: 'Ask again, or launch: a launch waits as long as handshakeSeconds of the agent.',
  });

/** The last starts of the agent failed: another one has to wait, or the agent has to be changed. */
const heldBack = (agent: AgentConfig, { failures, retryAt }: AgentCircuit, now: Date): Refusal =>
  refusal('CIRCUIT_OPEN', `Agent ${agent.type} failed to start ${failures} times in a row; try again later.`, {
    agent: agent.type,
    provider: agent.provider,
    failures,
    retryAfterMs: Math.max(0, Date.parse(retryAt ?? now.toISOString()) - now.getTime()),
    remediation: 'Read GET /api/config/agent-support for the cause; a changed configuration is tried immediately.',
  });
