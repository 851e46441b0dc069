import type { ActiveRunStore } from '../../stores/active-run-store';
import type { AdmissionRequestStore } from '../../stores/admission-request-store';
import type { AttemptStore } from '../../stores/attempt-store';
import type { AuditStore } from '../../stores/audit-store';
import type { CallbackSecretStore } from '../../stores/callback-secret-store';
import type { ClaimStore } from '../../stores/claim-store';
import type { ConversationStore } from '../../stores/conversation-store';
import type { HostStore } from '../../stores/host-store';
import type { LaunchSources } from '../../stores/launch-subject';
import type { LaunchStore } from '../../stores/launch-store';
import type { RecoveryStore } from '../../stores/recovery-store';
import type { RunCommandStore } from '../../stores/run-command-store';
import type { RoutingStore } from '../../stores/routing-store';
import type { RunEventStore } from '../../stores/run-event-store';
import type { TraceStore } from '../../stores/trace-store';
import type { TelemetryStore } from '../../stores/telemetry-store';
import type { TreeStore } from '../../stores/tree-store';
import type { WorktreeStore } from '../../stores/worktree-store';
import type { RunTimings } from '../../workflows/agent-run/messages';
import type { RunLauncher } from './launcher';

/** What the endpoints of runs call. */
export interface RunsContext extends LaunchSources {
  routing: Pick<RoutingStore, 'inputs' | 'configuration'>;
  traces: Pick<TraceStore, 'record'>;
  hosts: HostStore;
  worktrees: Pick<WorktreeStore, 'get' | 'change'>;
  audit: Pick<AuditStore, 'record'>;
  activeRuns: Pick<ActiveRunStore, 'release'>;
  attempts: AttemptStore;
  admissionRequests: AdmissionRequestStore;
  trees: Pick<TreeStore, 'get'>;
  launches: LaunchStore;
  recoveries: RecoveryStore;
  callbackSecrets: CallbackSecretStore;
  claims: ClaimStore;
  telemetry: TelemetryStore;
  commands: RunCommandStore;
  conversations: ConversationStore;
  events: RunEventStore;
  launcher: RunLauncher;
  settings: { timings: RunTimings };
}
