import type { TransportConversation } from '../../../contracts/runs/launch/contract';
import type { LaunchSnapshot } from '../../../domain/contract';
import type { LaunchPlan } from '../../../domain/launch-plan';
import { compact } from '../../../platform/json/compact';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';

type SnapshotFields = Pick<
  AttemptRecord,
  | 'agent'
  | 'provider'
  | 'phase'
  | 'commitPolicy'
  | 'commitPolicySource'
  | 'request'
  | 'objective'
  | 'agentConfig'
  | 'selection'
  | 'profile'
  | 'sandbox'
  | 'inherited'
  | 'maxRetries'
  | 'timeoutMs'
  | 'repository'
  | 'git'
>;

/** What an attempt stores of the plan it was admitted with. */
export const plannedFields = ({ snapshot, repository, git }: LaunchPlan): SnapshotFields => ({
  agent: snapshot.agent.type,
  provider: snapshot.agent.provider,
  phase: snapshot.phase,
  commitPolicy: snapshot.commitPolicy.value,
  commitPolicySource: snapshot.commitPolicy.source,
  request: snapshot.request,
  objective: snapshot.objective,
  agentConfig: snapshot.agent,
  selection: snapshot.selection,
  profile: snapshot.profile,
  sandbox: snapshot.sandbox,
  ...compact({ inherited: snapshot.inherited }),
  maxRetries: snapshot.maxRetries,
  ...compact({ timeoutMs: snapshot.timeoutMs }),
  repository,
  git,
});

/** The session of an earlier attempt that this one continues, for its provider and its transport document. */
export const goesOnWith = ({ conversation, continuation }: AttemptRecord): { conversation?: TransportConversation } =>
  conversation?.sourceAttemptId !== undefined && conversation.edge !== 'start' && continuation
    ? {
        conversation: {
          ...conversation,
          edge: conversation.edge,
          sourceAttemptId: conversation.sourceAttemptId,
          continuation,
        },
      }
    : {};

/** The snapshot an attempt was admitted with. */
export const snapshotOf = (record: AttemptRecord): LaunchSnapshot => ({
  taskId: record.taskId,
  request: record.request,
  objective: record.objective,
  phase: record.phase,
  commitPolicy: { value: record.commitPolicy, source: record.commitPolicySource },
  agent: record.agentConfig,
  selection: record.selection,
  profile: record.profile,
  sandbox: record.sandbox,
  ...compact({ inherited: record.inherited, message: record.message }),
  maxRetries: record.maxRetries,
  ...compact({ timeoutMs: record.timeoutMs }),
});
