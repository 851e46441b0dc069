import type { EvaluatedRule, TraceInput } from '../../contracts/governance/trace';
import type { LaunchFinding, RunLaunchManifest } from '../../contracts/runs/launch/manifest';
import type { SandboxPreset } from '../../contracts/settings/sandbox';
import { compact } from '../../platform/json/compact';
import type { Gate } from './enforcement';
import { sandboxTrace } from './sandbox-trace';

/** A launch that the gate refused before its contract could be compiled. */
export interface RefusedByGate {
  taskId: string;
  agent: string;
  gate: Pick<Gate, 'requirements' | 'controls' | 'blockers' | 'warnings'>;
  sandbox: SandboxPreset | null;
}

/** Everything that was decided about a launch when its contract was compiled; one of each for an attempt. */
export function launchTraces(attemptId: string, manifest: RunLaunchManifest): TraceInput[] {
  const { sandbox, enforcement, routing, requirements, permissions, taskId } = manifest;
  const agent = routing.selectedAgent;
  const runLaunchManifestDigest = manifest.digest;
  const policy = policyTrace({
    ...{ taskId, agent, enforcement, capabilities: requirements.capabilities },
    allowed: `The launch is allowed with the commit policy ${permissions.commitPolicy} and ${enforcement.warnings.length} warnings.`,
    dedupeKey: attemptId,
    raw: {
      attemptId,
      runLaunchManifestDigest,
      taskEnvelopeDigest: manifest.taskEnvelope.digest,
      providerRuntimeManifestDigest: manifest.providerRuntime.digest,
      permissions,
      tools: manifest.tools,
      sandbox,
      profile: manifest.profile,
      origins: manifest.origins,
    },
  });
  if (!sandbox) {
    return [policy];
  }
  return [
    policy,
    sandboxTrace({ taskId, agent, sandbox, enforcement }, { attemptId, runLaunchManifestDigest }, attemptId),
  ];
}

/** The same for a launch that has no contract, because the family of its agent cannot enforce what it requires. */
export function refusedTraces({ taskId, agent, gate, sandbox }: RefusedByGate, attemptId?: string): TraceInput[] {
  const { blockers, warnings, controls, requirements } = gate;
  const enforcement = { blockers, warnings };
  const raw = attemptId === undefined ? {} : { attemptId };
  const policy = policyTrace({
    ...{ taskId, agent, enforcement, capabilities: requirements, raw, dedupeKey: attemptId },
    allowed: 'The launch is allowed.',
  });
  if (!sandbox) {
    return [policy];
  }
  const decided = { presetId: sandbox.id, enforcement: sandbox.enforcement, controls };
  return [policy, sandboxTrace({ taskId, agent, sandbox: decided, enforcement }, raw, attemptId)];
}

interface PolicyTraceInput {
  taskId: string;
  agent: string;
  enforcement: { blockers: readonly LaunchFinding[]; warnings: readonly LaunchFinding[] };
  capabilities: RunLaunchManifest['requirements']['capabilities'];
  /** The summary of a launch that is not refused. */
  allowed: string;
  raw: Record<string, unknown>;
  dedupeKey: string | undefined;
}

/** The policy trace of a launch: what was required of its agent, what of it is met, and which policies bind the run. */
function policyTrace({ taskId, agent, allowed, raw, dedupeKey, ...decided }: PolicyTraceInput): TraceInput {
  const { blockers, warnings } = decided.enforcement;
  const outcome = blockers.length > 0 ? 'blocked' : warnings.length > 0 ? 'warned' : 'allowed';
  return {
    kind: 'policy',
    outcome,
    title: `Launch of ${agent}`,
    summary:
      blockers.length > 0 ? `The launch is refused: ${blockers.map(({ message }) => message).join(' ')}` : allowed,
    ...(blockers.length > 0 ? { remediation: 'Choose another agent, or require less.' } : {}),
    subject: { agentId: agent, taskId, actionType: 'run.start' },
    evaluatedRules: rulesOf(decided),
    raw,
    ...compact({ dedupeKey }),
  };
}

const rulesOf = ({
  capabilities,
  enforcement,
}: Pick<PolicyTraceInput, 'capabilities' | 'enforcement'>): EvaluatedRule[] => [
  ...capabilities.map(({ id, state }) => ({
    id,
    label: `Required capability ${id}`,
    type: 'capability',
    status: 'info' as const,
    message: `${id} is ${state}.`,
  })),
  ...enforcement.blockers.map(({ code, message }) => finding(code, message, 'blocked')),
  ...enforcement.warnings.map(({ code, message }) => finding(code, message, 'warned')),
];

const finding = (id: string, message: string, outcome: 'blocked' | 'warned'): EvaluatedRule => ({
  id,
  label: id,
  type: 'enforcement',
  status: 'matched',
  outcome,
  message,
});
