import type { AgentConfigStore } from '../../stores/agent-config-store';
import type { AttemptStore } from '../../stores/attempt-store';
import type { Board } from '../../stores/board-files/board';
import type { ClaimStore } from '../../stores/claim-store';
import type { HostStore } from '../../stores/host-store';
import type { LaunchStore } from '../../stores/launch-store';
import type { RecoveryStore } from '../../stores/recovery-store';
import type { RepositoryStore } from '../../stores/repository-store';
import type { RunEventStore } from '../../stores/run-event-store';
import type { RunTimings } from '../../workflows/agent-run/messages';
import type { RunLauncher } from './launcher';

/** What the endpoints of runs call. */
export interface RunsContext {
  board: Pick<Board, 'get'>;
  agents: AgentConfigStore;
  repositories: RepositoryStore;
  hosts: HostStore;
  attempts: AttemptStore;
  launches: LaunchStore;
  recoveries: RecoveryStore;
  claims: ClaimStore;
  events: RunEventStore;
  launcher: RunLauncher;
  settings: { timings: RunTimings; maxRetries: number };
}
