import type { AgentConfig } from '../../../contracts/settings/agent-config';
import type { SessionOffer } from '../../../contracts/settings/session-offer';
import type { Log } from '../../../platform/log/log';
import type { ProviderRegistry } from '../../../providers/agents/registry';
import type { AgentAccess } from '../../../providers/agents/user/agent-access';
import type { Git } from '../../../providers/git/git';
import type { ToolRulings } from '../../../stores/governance/tool-rulings';
import type { AttemptHandleStore } from '../../../stores/runs/attempt-handle-store';
import type { AttemptRecord, AttemptStore } from '../../../stores/runs/attempt-store';
import type { RunEventStore } from '../../../stores/runs/event-store';
import type { OutputArtifactStore } from '../../../stores/runs/output-store';
import type { PhaseStore } from '../../../stores/runs/phase-store';
import type { FeedStore } from '../../../stores/system/feed-store';
import type { TelemetryStore } from '../../../stores/system/telemetry-store';
import type { WorktreeFences } from '../../worktree/fences';
import type { HoldDependencies } from '../admission/hold';
import type { KeepWorkDependencies } from '../completion/keep-work';
import type { AgentDecider } from './agent-approvals';
import type { AgentStops } from './agent-stops';
import type { AttemptDirectories } from './attempt-files';
import type { CheckpointDependencies } from './checkpoints';
import type { LiveAgents } from './live-agents';
import type { SpendMeterDependencies } from './spend-meter';
import type { SupervisionDependencies } from './supervision';
import type { ToolBridgeDependencies } from './tool-bridge';
import type { WatchdogDependencies } from './watchdog';

/** What the agents of a host are run with. */
export interface DispatchDependencies
  extends
    SupervisionDependencies,
    WatchdogDependencies,
    CheckpointDependencies,
    KeepWorkDependencies,
    SpendMeterDependencies,
    AttemptDirectories {
  admission: HoldDependencies;
  attempts: AttemptStore;
  events: RunEventStore;
  stops: AgentStops;
  feed: FeedStore;
  telemetry: Pick<TelemetryStore, 'record'>;
  git: Git;
  fences: WorktreeFences;
  providers: ProviderRegistry;
  /** The agents of this process, for the delivery of commands. */
  live: LiveAgents;
  handles: AttemptHandleStore;
  /** How agents call the tools of their runs, and what ends with an attempt. */
  toolBridge: ToolBridgeDependencies;
  /** Requests permissions for the agent of an attempt. */
  decider(record: AttemptRecord): AgentDecider;
  /** What the rules of the board make of the tools of an attempt. */
  toolRulings(record: AttemptRecord): ToolRulings;
  /** Records what the sessions of an agent offer on this host. */
  offered(agent: AgentConfig, offer: SessionOffer): Promise<void>;
  outputArtifacts: OutputArtifactStore;
  /** What an attempt may do now. */
  phases: Pick<PhaseStore, 'get' | 'endEmergency'>;
  /** Hands worktrees to the user agents run as; absent when that is this process's. */
  agentAccess?: AgentAccess | undefined;
  limits: { runTimeoutMs: number; outputLimitBytes: number; stopGraceMs: number };
  log: Log;
}
