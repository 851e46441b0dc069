import type { TaskEnvelope, TransportSection } from '../../contracts/runs/launch/contract';
import type { RunLaunchManifest } from '../../contracts/runs/launch/manifest';
import { compact } from '../../platform/json/compact';
import { digestOf, textDigest, withDigest } from '../../platform/json/digest';
import { networkModeOf } from '../sandbox/network';
import { catalogSummary } from '../tool-servers/catalog';
import { startedAgent } from '../workspaces/trust';
import { commitContradiction } from './commit-policy';
import { gateOf } from './enforcement';
import type { ContractInput } from './input';
import { originsOf } from './origins';

/** The `run-launch-manifest/v1` of a launch: what runs, why, where each value is from, and what can be enforced. */
export function compileManifest(
  input: ContractInput,
  envelope: TaskEnvelope,
  sections: readonly TransportSection[],
): RunLaunchManifest {
  const { agent, runtime, selection, profile, limits } = input;
  const contradictions = commitContradiction(input.commitPolicy, envelope.allowedSideEffects);
  const gate = gateOf({ ...input, hasRepository: input.workspace !== null, contradictions });
  return withDigest({
    schemaVersion: 'run-launch-manifest/v1' as const,
    taskId: input.taskId,
    taskEnvelope: { digest: envelope.digest },
    providerRuntime: { digest: runtime.digest, provider: runtime.provider, probeRevision: runtime.probeRevision },
    harness: {
      adapter: runtime.adapter,
      protocolVersion: runtime.protocolVersion,
      providerVersion: runtime.providerVersion ?? null,
    },
    requirements: { capabilities: gate.requirements },
    routing: {
      requestedAgent: selection.requestedAgent,
      selectedAgent: agent.type,
      selectedHost: input.hostId,
      reason: selection.reason,
      fallbackAgent: selection.fallbackAgent ?? null,
      fallbackAllowed: selection.fallbackAllowed ?? false,
      maxRetries: input.maxRetries,
    },
    profile: profile ? { id: profile.id, revision: profile.revision, digest: digestOf(profile) } : null,
    readiness: {
      ready: gate.blockers.length === 0,
      overridden: false as const,
      passed: gate.total - gate.blockers.length,
      total: gate.total,
      missingRequired: gate.blockers.map(({ code }) => code),
      warnings: gate.warnings.map(({ code }) => code),
    },
    instructions: instructionsOf(envelope, sections),
    runtime: {
      model: agent.model ?? null,
      ...compact({ mode: agent.mode, authMethod: agent.authMethod }),
      ...(agent.mcpServers?.length ? { mcpServers: agent.mcpServers.map(({ name }) => name) } : {}),
      command: agent.command ?? null,
      args: startedAgent(agent, input.trust?.section).args,
      workingDirectory: input.workspace?.path ?? null,
      worktree: input.workspace !== null,
      environmentKeys: agent.environmentKeys,
      credentialReferences: input.sandbox?.credentials.brokerRefs ?? [],
    },
    workspace: workspaceOf(envelope),
    tools: {
      ...envelope.policy.tools,
      mcpServers: envelope.policy.mcpServers,
      ...compact({ catalog: input.tools && catalogSummary(input.tools) }),
    },
    permissions: {
      commitPolicy: envelope.commitPolicy,
      allowed: envelope.policy.permissions,
      sideEffects: envelope.allowedSideEffects,
    },
    resources: {
      timeoutMs: timeLimitOf(input),
      outputLimitBytes: limits.outputLimitBytes,
      stopGraceMs: limits.stopGraceMs,
    },
    sandbox: sandboxOf(input, gate.controls),
    workspaceTrust: input.trust?.section ?? { state: 'not-evaluated' as const },
    phase: phaseOf(input),
    origins: originsOf(input, envelope),
    enforcement: {
      enforceable: gate.blockers.length === 0,
      blockers: gate.blockers,
      warnings: gate.warnings,
    },
  });
}

/** What ends the run first: its setting, or the longest that its host lets an agent run. */
const timeLimitOf = ({ agent, timeoutMs, limits }: ContractInput): number => {
  if (timeoutMs === undefined) {
    return limits.runTimeoutMs;
  }
  return agent.provider === 'remote-callback' ? timeoutMs : Math.min(timeoutMs, limits.runTimeoutMs);
};

const kinds = {
  'workspace-trust': 'policy',
  'profile-instructions': 'profile',
  checkpoint: 'checkpoint',
  'conversation-message': 'conversation',
  'tool-servers': 'policy',
} as const;

/** Fingerprints of every text passed to the agent, by descending precedence. */
function instructionsOf(
  envelope: TaskEnvelope,
  sections: readonly TransportSection[],
): RunLaunchManifest['instructions'] {
  const objective = JSON.stringify(envelope.objective);
  const texts = [
    { id: 'objective', kind: 'task' as const, origin: `task:${envelope.taskId}`, text: objective },
    ...sections.map(({ id, source, text }) => ({ id, kind: kinds[id], origin: source, text })),
  ];
  return texts.map(({ text, ...rest }, index) => ({
    ...rest,
    digest: textDigest(text),
    byteLength: Buffer.byteLength(text),
    precedence: index + 1,
  }));
}

const phaseOf = ({ phase, phaseEvidence }: ContractInput): RunLaunchManifest['phase'] =>
  phaseEvidence
    ? { phase, evidence: phaseEvidence.mode, digest: phaseEvidence.digest }
    : { phase, evidence: 'legacy' as const };

function workspaceOf({ workspace }: TaskEnvelope): RunLaunchManifest['workspace'] {
  if (!workspace) {
    return null;
  }
  const { repository, branch, baseline } = workspace;
  const { headSha, dirty, files } = baseline;
  return { repository, branch, baseline: { headSha, dirty, files: files.length, digest: digestOf(baseline) } };
}

function sandboxOf(
  { sandbox, runtime }: ContractInput,
  controls: NonNullable<RunLaunchManifest['sandbox']>['controls'],
): RunLaunchManifest['sandbox'] {
  if (!sandbox) {
    return null;
  }
  const { id, revision, enforcement } = sandbox;
  const { sandbox: host } = runtime;
  const confinement = host && {
    mechanism: host.mechanism,
    version: host.version,
    network: networkModeOf(sandbox.network),
  };
  return { presetId: id, revision, digest: digestOf(sandbox), enforcement, controls, ...compact({ confinement }) };
}
