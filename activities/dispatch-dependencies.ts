import type { Log } from '../platform/log/log';
import type { ProviderRegistry } from '../providers/agents/registry';
import type { AgentAccess } from '../providers/agents/user/agent-access';
import type { Git } from '../providers/git/git';
import type { AttemptHandleStore } from '../stores/attempt-handle-store';
import type { AttemptRecord, AttemptStore } from '../stores/attempt-store';
import type { FeedStore } from '../stores/feed-store';
import type { OutputArtifactStore } from '../stores/output-artifact-store';
import type { PhaseStore } from '../stores/phase-store';
import type { RunEventStore } from '../stores/run-event-store';
import type { AgentDecider } from './agent-approvals';
import type { AttemptDirectories } from './attempt-files';
import type { HoldDependencies } from './admission-control/hold';
import type { CheckpointDependencies } from './checkpoints';
import type { LiveAgents } from './live-agents';
import type { WorktreeObservationDependencies } from './observe-worktree';
import type { SupervisionDependencies } from './supervision';
import type { WorktreeFences } from './worktree/fences';
import type { WatchdogDependencies } from './watchdog';

/** What the agents of a host are run with. */
export interface DispatchDependencies
  extends
    SupervisionDependencies,
    WatchdogDependencies,
    CheckpointDependencies,
    WorktreeObservationDependencies,
    AttemptDirectories {
  admission: HoldDependencies;
  attempts: AttemptStore;
  events: RunEventStore;
  feed: FeedStore;
  git: Git;
  fences: WorktreeFences;
  providers: ProviderRegistry;
  /** The agents of this process, for what is said to them. */
  live: LiveAgents;
  handles: AttemptHandleStore;
  /** Asks people what the agent of an attempt wants leave for. */
  decider(record: AttemptRecord): AgentDecider;
  outputArtifacts: OutputArtifactStore;
  /** What an attempt may do now. */
  phases: Pick<PhaseStore, 'endEmergency'>;
  /** Hands worktrees to the user agents run as; absent when that is this process's. */
  agentAccess?: AgentAccess | undefined;
  limits: { runTimeoutMs: number; outputLimitBytes: number; stopGraceMs: number };
  log: Log;
}
