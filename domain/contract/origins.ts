import type { TaskEnvelope } from '../../contracts/runs/launch/contract';
import { type FieldOrigin, type OriginScope, originScope } from '../../contracts/runs/launch/manifest';
import type { ContractInput } from './input';

const precedence = new Map(originScope.options.map((scope, index) => [scope, index + 1]));

export const origin = (field: string, scope: OriginScope, source: string): FieldOrigin => ({
  field,
  scope,
  source,
  precedence: precedence.get(scope) ?? precedence.size,
});

/** The origin of each configurable field of a launch. */
export function originsOf(input: ContractInput, envelope: Pick<TaskEnvelope, 'commitPolicy'>): FieldOrigin[] {
  const { request, profile, sandbox, agent, objective, commitPolicy } = input;
  const agentType = `agent:${agent.type}`;
  const profileSource = `profile:${profile?.id ?? ''}`;
  const requested = (field: 'profile' | 'sandbox' | 'commitPolicy', otherwise: string): string =>
    input.inherited?.fields.includes(field) ? `attempt:${input.inherited.attemptId}` : otherwise;
  return [
    agentOrigin(input),
    choiceOrigin('model', input),
    ...(agent.mode === undefined ? [] : [choiceOrigin('mode', input)]),
    origin('command', 'agent', agentType),
    origin('environmentKeys', sandbox?.environment.passthrough ? 'sandbox' : 'agent', sandboxOr(input, agentType)),
    envelope.commitPolicy === commitPolicy.value
      ? origin('commitPolicy', commitPolicy.source, requested('commitPolicy', commitPolicySources[commitPolicy.source]))
      : origin('commitPolicy', request.phase ? 'run' : 'default', 'what the run may do leaves commits out'),
    origin('phase', request.phase ? 'run' : 'default', request.phase ? 'launch request' : 'implement'),
    origin(
      'requiredCapabilities',
      request.requiredRuntimeCapabilities ? 'run' : 'default',
      request.requiredRuntimeCapabilities ? 'launch request' : 'baseline',
    ),
    origin(
      'sideEffects',
      objective.allowedSideEffects ? 'task' : 'default',
      objective.allowedSideEffects ? 'task.executionPolicy' : 'everything in the worktree',
    ),
    ...(objective.expectedOutputs.length > 0 ? [origin('expectedOutputs', 'task', 'task.executionPolicy')] : []),
    origin('resources', 'settings', 'environment'),
    ...(profile
      ? [origin('profile', 'run', requested('profile', 'launch request')), origin('tools', 'profile', profileSource)]
      : []),
    ...(sandbox ? [origin('sandbox', 'run', requested('sandbox', 'launch request'))] : []),
  ];
}

/** The request before the profile before the agent. */
function choiceOrigin(field: 'model' | 'mode', { request, profile, agent }: ContractInput): FieldOrigin {
  if (request[field] !== undefined) {
    return origin(field, 'run', 'launch request');
  }
  return profile?.[field] === undefined
    ? origin(field, agent[field] === undefined ? 'default' : 'agent', `agent:${agent.type}`)
    : origin(field, 'profile', `profile:${profile.id}`);
}

const commitPolicySources = {
  run: 'launch request',
  task: 'task.executionPolicy',
  settings: 'features.agents.autoCommitOnComplete',
  default: 'allowed',
} as const;

function agentOrigin({ request, profile, selection }: ContractInput): FieldOrigin {
  if (request.agent !== undefined) {
    return origin('agent', 'run', 'launch request');
  }
  if (profile) {
    return origin('agent', 'profile', `profile:${profile.id}`);
  }
  if (selection.requestedAgent !== null) {
    return origin('agent', 'task', 'task.agent');
  }
  return origin('agent', 'settings', selection.reason);
}

const sandboxOr = ({ sandbox }: ContractInput, other: string): string =>
  sandbox?.environment.passthrough ? `sandbox:${sandbox.id}` : other;
