import type { Phase } from '../../contracts/common';
import type { CatalogServer } from '../../contracts/integrations/tool-catalog';
import type { ProviderRuntimeManifest, TaskEnvelope, TransportSection } from '../../contracts/runs/launch/contract';
import type { LaunchRequest } from '../../contracts/runs/launch/launch';
import type { PhaseEvidence } from '../../contracts/runs/phase';
import type { AgentConfig } from '../../contracts/settings/agent-config';
import type { Profile } from '../../contracts/settings/profile';
import type { SandboxPreset } from '../../contracts/settings/sandbox';
import type { Inherited } from '../children/authority';
import type { LaunchTrust } from '../workspaces/trust';
import type { ResolvedCommitPolicy } from './commit-policy';
import type { Objective } from './objective';

/** How the agent of a launch was chosen. */
export interface Selection {
  requestedAgent: string | null;
  reason: string;
  /** The agent of a fallback, when routing names one. */
  fallbackAgent?: string | null;
  fallbackAllowed?: boolean;
  /** The model that routing selected instead of the agent's own. */
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
  /** A person's message that begins the run's conversation. */
  message?: { text: string; actor: string };
  maxRetries: number;
  /** How long the run may take by the settings, in milliseconds; absent in launches planned by earlier versions. */
  timeoutMs?: number;
}

/** The snapshot with the facts that only the run's host has. */
export interface ContractInput extends LaunchSnapshot {
  hostId: string | null;
  workspace: TaskEnvelope['workspace'];
  runtime: ProviderRuntimeManifest;
  /** What the run may do. */
  phaseEvidence?: PhaseEvidence;
  /** The effect of the workspace files that agents load by themselves. */
  trust?: LaunchTrust;
  /** Names of the agent's variables that are not set on its host. */
  missingVariables?: readonly string[];
  /** The tool servers of the launch with their tools; absent without any. */
  tools?: readonly CatalogServer[];
  limits: RunLimits;
}

export type { TransportSection };
