import type { AgentConfig } from '../../contracts/agent-config';
import type { Phase } from '../../contracts/common';
import type { LaunchRequest } from '../../contracts/launch';
import type { PhaseEvidence } from '../../contracts/phase';
import type { Profile } from '../../contracts/profile';
import type { ProviderRuntimeManifest, TaskEnvelope, TransportSection } from '../../contracts/run-contract';
import type { SandboxPreset } from '../../contracts/sandbox';
import type { Inherited } from '../children/authority';
import type { LaunchTrust } from '../workspace/trust';
import type { ResolvedCommitPolicy } from './commit-policy';
import type { Objective } from './objective';

/** How the agent of a launch was chosen. */
export interface Selection {
  requestedAgent: string | null;
  reason: string;
  /** The agent that would take over, when routing names one. */
  fallbackAgent?: string | null;
  fallbackAllowed?: boolean;
  /** What routing asked for instead of the agent's own model. */
  model?: string;
}

/** Bounds of one run. */
export interface RunLimits {
  /** The longest that an agent may run on this host, in milliseconds. */
  runTimeoutMs: number;
  outputLimitBytes: number;
  stopGraceMs: number;
}

/** What a launch is made of, captured once: for a preview by the API, for a start at its admission. */
export interface LaunchSnapshot {
  taskId: string;
  request: Omit<LaunchRequest, 'idempotencyKey'>;
  objective: Objective;
  phase: Phase;
  commitPolicy: ResolvedCommitPolicy;
  /** With the profile's model, when it names one. */
  agent: AgentConfig;
  selection: Selection;
  profile: Profile | null;
  sandbox: SandboxPreset | null;
  /** Set for the child of an attempt on another task. */
  inherited?: Inherited;
  /** Words of a person that begin the run's conversation. */
  message?: { text: string; actor: string };
  maxRetries: number;
  /** How long the run may take by the settings, in milliseconds; absent in launches planned by earlier versions. */
  timeoutMs?: number;
}

/** The snapshot with what only the host of the run can tell. */
export interface ContractInput extends LaunchSnapshot {
  hostId: string | null;
  workspace: TaskEnvelope['workspace'];
  runtime: ProviderRuntimeManifest;
  /** What the run may do. */
  phaseEvidence?: PhaseEvidence;
  /** What files of the workspace that agents take up by themselves mean for it. */
  trust?: LaunchTrust;
  /** Names of the agent's variables that are not set on its host. */
  missingVariables?: readonly string[];
  limits: RunLimits;
}

export type { TransportSection };
