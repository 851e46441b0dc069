import { ApplicationFailure } from '@temporalio/common';
import type { TraceInput } from '../../../contracts/governance/trace';
import type { Refusal } from '../../../contracts/refusal';
import type { ProviderRuntimeManifest } from '../../../contracts/runs/launch/contract';
import type { LaunchOutcome } from '../../../contracts/runs/launch/launch';
import type { LaunchFinding, LaunchPreview } from '../../../contracts/runs/launch/manifest';
import type { WorkspaceInventory } from '../../../contracts/runs/trust';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import {
  compileContract,
  enforcementProblem,
  type LaunchContract,
  type LaunchSnapshot,
  launchTraces,
  renderTransport,
  type RunLimits,
} from '../../../domain/contract';
import { compact } from '../../../platform/json/compact';
import { withHeartbeat } from '../../../platform/temporal/heartbeat';
import type { ProofVerifier } from '../../../platform/temporal/proof-verifier';
import type { Baseline, Git } from '../../../providers/git/git';
import type { SeenWorktree } from '../../../providers/git/repository/trust-inventory';
import { untrackedIn } from '../../../providers/git/status';
import type { TraceStore } from '../../../stores/governance/trace-store';
import { attemptTools, launchTools, type LaunchToolsDependencies } from '../../../stores/integrations/launch-tools';
import type { Stores } from '../../../stores/open-stores';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { AgentCircuit } from '../../../stores/runs/hosts/host-manifest-store';
import type { PhaseStore } from '../../../stores/runs/phase-store';
import { inventoryMessage, previewMessage, type Signed } from '../../../workflows/message-proofs';
import { hostProblem, type HostProblemDependencies } from '../../shared/host-problem';
import type { WorktreeFences } from '../../worktree/fences';
import { type AttemptWorkspace, createAttemptWorkspaces, runGone } from './attempt-workspace';
import { type LaunchPhase, phaseAtLaunch } from './launch-phase';
import { goesOnWith, snapshotOf } from './launch-snapshot';
import { createPlannedLocations, type PlannedLocation } from './planned-location';
import { previewPatienceMs, probedAgent } from './probed-agent';
import type { AgentProbing } from './probing';
import { repositoryProblem } from './repository-problem';
import { type TrustDependencies, trustOfLaunch } from './workspace-trust';

export interface PrepareDependencies
  extends TrustDependencies, HostProblemDependencies, LaunchToolsDependencies, Pick<Stores, 'attempts' | 'worktrees'> {
  phases: Pick<PhaseStore, 'get' | 'begin'>;
  git: Git;
  fences: WorktreeFences;
  /** What an agent can do on this host, and whether its starts are suspended. */
  probe: AgentProbing['probe'];
  /** Directory of this host's worktrees, one per task. */
  worktreeDir: string;
  /** Whether this host has little space left. */
  diskSpace: () => Promise<LaunchFinding[]>;
  /** What prevents an agent from being started as it is configured. */
  agentFindings: (agent: AgentConfig) => readonly LaunchFinding[];
  /** Names of the agent's variables that are not set on this host. */
  missingVariables(agent: AgentConfig): readonly string[];
  limits: RunLimits;
  traces: Pick<TraceStore, 'record'>;
  /** Verifies what names a program or a repository and does not come from the stores. */
  proofs: ProofVerifier;
  now(): Date;
}

/** What a launch is prepared from, and its contract. */
interface CompiledLaunch {
  contract: LaunchContract;
  phase: LaunchPhase;
  runtime: ProviderRuntimeManifest;
  workspace: AttemptWorkspace;
}

/** What a preview compiles: the snapshot that a start would take, and where it would run. */
export interface PreviewInput extends Omit<PlannedLocation, 'taskId'> {
  snapshot: LaunchSnapshot;
  hostId: string | null;
}

export function createPrepareActivities(deps: PrepareDependencies) {
  const locations = createPlannedLocations(deps);
  const workspaces = createAttemptWorkspaces(deps);

  return {
    /**
     * Takes the lease of the worktree, captures its baseline, compiles the launch contract and stores it: after this, and not
     * before, the run may be dispatched. Done already, it returns what is stored. Refused with `WORKTREE_MISSING` or
     * `WORKTREE_BUSY`, it can be repeated when the worktree is there.
     */
    async prepare({ attemptId }: { attemptId: string }): Promise<LaunchOutcome> {
      const record = await deps.attempts.get(attemptId);
      if (!record) {
        throw ApplicationFailure.nonRetryable(`No attempt ${attemptId}.`, 'ATTEMPT_MISSING');
      }
      if (record.launch?.status === 'running') {
        return record.launch;
      }
      const compiled = await compileLaunch(record);
      if ('status' in compiled) {
        return compiled;
      }
      const traced = launchTraces(attemptId, compiled.contract.runLaunchManifest);
      const unenforceable = enforcementProblem(compiled.contract.runLaunchManifest);
      if (unenforceable) {
        await recordTraces(traced);
        return unenforceable;
      }
      await beginPhase(record, compiled);
      const stored = await storeLaunch(record, compiled);
      await recordTraces(traced);
      const stands = stored?.launch ?? (await deps.attempts.get(attemptId))?.launch;
      // Nothing was prepared: the launch was given up, or the run brought to its end, while this worker was asleep.
      if (stands?.status !== 'running') {
        throw runGone(attemptId);
      }
      return stands;
    },

    /** What the workspace of a task brings that agents load by themselves; `null` for a task without a repository. */
    async takeInventory({
      proof,
      ...location
    }: PlannedLocation & Signed): Promise<WorkspaceInventory | null | Refusal> {
      await deps.proofs.require(inventoryMessage(location), proof);
      return refusing(location, () => locations.inventory(location));
    },

    /** The same compilation without an attempt; git is only read. */
    async preview({ proof, ...input }: PreviewInput & Signed): Promise<LaunchPreview | Refusal> {
      // Before anything is done with it: the probe starts the program that it names.
      await deps.proofs.require(previewMessage(input), proof);
      const { snapshot, hostId, ...where } = input;
      const location = { ...where, taskId: snapshot.taskId };
      // None of them needs another, and a caller waits; the first that refuses, in the order of a start, is returned.
      const look = locations.inspect(location);
      const trusting = trustOfLaunch(deps, snapshot.agent, {
        repository: location.repository?.name,
        look: look.inventory,
      });
      const [[probe, workspace, tools]] = await Promise.all([
        Promise.all([
          probedAgent(deps, snapshot.agent, { request: snapshot.request, patienceMs: previewPatienceMs }),
          refusing(location, look.workspace),
          launchTools(deps, snapshot.agent, { signal: new AbortController().signal, patienceMs: previewPatienceMs }),
        ]),
        Promise.allSettled([trusting]),
      ]);
      if ('status' in probe) {
        return probe;
      }
      const isNew = location.repository !== null && (await deps.worktrees.get(location.taskId))?.state !== 'ready';
      const unready = isNew ? await hostProblem(deps) : undefined;
      if (unready) {
        return unready;
      }
      const { manifest: runtime, circuit } = probe;
      if (workspace && 'status' in workspace) {
        return workspace;
      }
      if (tools && 'code' in tools) {
        return tools;
      }
      const launchPhase = await phaseAtLaunch(deps, snapshot, {
        parentAttemptId: snapshot.request.parentAttemptId,
        runtime,
      });
      if ('status' in launchPhase) {
        return launchPhase;
      }
      const trust = await trusting;
      if ('status' in trust) {
        return trust;
      }
      const { runLaunchManifest } = compileContract({
        ...snapshot,
        trust,
        phase: launchPhase.evidence.phase,
        phaseEvidence: launchPhase.evidence,
        hostId,
        workspace,
        runtime,
        missingVariables: deps.missingVariables(snapshot.agent),
        ...compact({ tools }),
        limits: deps.limits,
      });
      const warnings = [
        ...(await deps.diskSpace()),
        ...(location.repository ? await deps.hostFindings() : []),
        ...deps.agentFindings(snapshot.agent),
      ];
      return (
        enforcementProblem(runLaunchManifest) ?? {
          manifest: runLaunchManifest,
          dependencyCircuits: [circuitOf(snapshot.agent, circuit)],
          ...(warnings.length > 0 ? { warnings } : {}),
        }
      );
    },
  };

  /** Inspects the host, the tools and the leased worktree of an attempt, and compiles its contract; the first refusal is returned. */
  async function compileLaunch(record: AttemptRecord): Promise<CompiledLaunch | Refusal> {
    const probe = await withHeartbeat(() => probedAgent(deps, record.agentConfig, { request: record.request }));
    if ('status' in probe) {
      return probe;
    }
    const { manifest: runtime } = probe;
    const tools = await withHeartbeat((signal) => attemptTools(deps, record, signal));
    if (tools && 'code' in tools) {
      return tools;
    }
    const workspace = await withHeartbeat(() => workspaces.lease(record));
    if ('status' in workspace) {
      return workspace;
    }
    const snapshot = snapshotOf(record);
    const phase = await phaseAtLaunch(deps, snapshot, { parentAttemptId: record.parentAttemptId, runtime });
    if ('status' in phase) {
      return phase;
    }
    const trust = await trustOfLaunch(deps, record.agentConfig, {
      repository: record.repository?.name,
      look: () => inventoryOf(workspace),
    });
    if ('status' in trust) {
      return trust;
    }
    const contract = compileContract({
      ...snapshot,
      phase: phase.evidence.phase,
      phaseEvidence: phase.evidence,
      trust,
      hostId: record.hostId,
      workspace: workspace.envelope,
      runtime,
      missingVariables: deps.missingVariables(record.agentConfig),
      ...compact({ tools }),
      limits: deps.limits,
    });
    return { contract, phase, runtime, workspace };
  }

  async function inventoryOf({ envelope, baseline }: AttemptWorkspace): Promise<WorkspaceInventory | null> {
    return envelope
      ? deps.git.worktreeInventory({
          worktreePath: envelope.path,
          identity: baseline?.identity,
          ...compact({ seen: baseline && seenIn(baseline) }),
        })
      : null;
  }

  /** Stored before the attempt is prepared, which is done once: a try that dies in between writes it again. */
  async function beginPhase({ _id, taskId }: AttemptRecord, { contract, phase }: CompiledLaunch): Promise<void> {
    const { evidence, sources } = phase;
    await deps.phases.begin({
      _id,
      taskId,
      launchPhase: evidence.phase,
      launchEvidence: evidence,
      evidence,
      manifestDigest: contract.runLaunchManifest.digest,
      sources,
    });
  }

  /** @returns the prepared attempt; `undefined` when it was not waiting for that any more */
  async function storeLaunch(record: AttemptRecord, { contract, phase, runtime, workspace }: CompiledLaunch) {
    const { _id: attemptId, taskId, agent, provider, hostId } = record;
    const { sections, ...documents } = contract;
    const { adapter } = runtime;
    const { digest } = renderTransport({
      attemptId,
      taskId,
      adapter,
      envelope: contract.taskEnvelope,
      sections,
      ...goesOnWith(record),
    });
    return deps.attempts.markPrepared(attemptId, {
      ...documents,
      phase: phase.evidence.phase,
      transport: { digest, adapter, sections },
      hostId,
      launch: {
        taskId,
        attemptId,
        agent,
        provider,
        status: 'running',
        startedAt: deps.now().toISOString(),
        providerRuntimeManifestDigest: runtime.digest,
        runLaunchManifestDigest: contract.runLaunchManifest.digest,
      },
      ...compact({ baseline: workspace.baseline, surroundings: workspace.surroundings }),
    });
  }

  /** A repeated preparation yields the same traces, of which the store has each once. */
  async function recordTraces(traces: readonly TraceInput[]): Promise<void> {
    for (const traced of traces) {
      await deps.traces.record(traced);
    }
  }

  async function refusing<T>({ repository }: PlannedLocation, look: () => Promise<T>): Promise<T | Refusal> {
    try {
      return await look();
    } catch (error) {
      if (!repository) {
        throw error;
      }
      return (await hostProblem(deps)) ?? repositoryProblem(repository, error);
    }
  }
}

export type PrepareActivities = ReturnType<typeof createPrepareActivities>;

/** What a launch of the agent depends on and may be suspended by, without anything secret. */
const circuitOf = (agent: AgentConfig, circuit: AgentCircuit) => ({
  dependency: `agent:${agent.type}`,
  provider: agent.provider,
  ...circuit,
});

/** The result of the inspection that a baseline is of; `undefined` where the baseline lists only a part of it. */
const seenIn = ({ headSha, files, truncated }: Baseline): SeenWorktree | undefined =>
  truncated ? undefined : { headSha, untracked: untrackedIn({ entries: files }) };
