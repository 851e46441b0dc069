import type { Refusal } from '../contracts/refusal';
import type { LaunchRequest } from '../contracts/runs/launch/launch';
import type { AgentConfig } from '../contracts/settings/agent-config';
import type { Profile } from '../contracts/settings/profile';
import type { Repository } from '../contracts/settings/repository';
import type { SandboxPreset } from '../contracts/settings/sandbox';
import type { TransitionHooks } from '../contracts/settings/transition-hook';
import type { Task, TaskLocation } from '../contracts/tasks/task';
import type { ChildAuthority } from './children/authority';
import { optionsProblem, withProfile } from './launch-options';
import { refusal } from './refusal';
import type { RouteDecision } from './routing/decide';
import { type AgentSelection, selectAgent } from './routing/launch';
import { launchGateRefusal } from './transitions/launch';

/** The gate's inputs; loaded once by the caller. */
export interface LaunchInputs extends Partial<Pick<ChildAuthority, 'inherited' | 'problem'>> {
  task: Task;
  location: TaskLocation;
  request: LaunchRequest;
  agents: AgentConfig[];
  /** Routing's maximum of retries of a lost run. */
  maxRetries: number;
  /** How it is routed, when it names no agent. */
  route: RouteDecision | undefined;
  repository: Repository | undefined;
  /** What the request names by id, when it exists, or what its parent attempt has. */
  profile: Profile | undefined;
  sandbox: SandboxPreset | undefined;
  /** The legacy setting `features.agents.autoCommitOnComplete`. */
  autoCommitOnComplete: boolean;
  /** The rules for the change of the task's status. */
  transitionHooks: TransitionHooks;
  /** How long the run may take by the settings, in milliseconds. */
  timeoutMs?: number;
}

export type LaunchSelection = AgentSelection;

/**
 * The readiness gate that preview and start share (specification 2, Launch rule 1): selects the agent, or returns why this task
 * cannot be launched now and what to do about it. Pure; capacity and a running attempt are admission's.
 */
export function selectLaunch(inputs: LaunchInputs): LaunchSelection | Refusal {
  const request = withProfile(inputs.request, inputs.profile);
  if (inputs.location !== 'active') {
    return refusal('RUN_NOT_READY', `The task is in the ${inputs.location}; move it to the active board first.`, {
      location: inputs.location,
    });
  }
  const unusable = inputs.problem ?? optionsProblem(inputs) ?? launchGateRefusal(inputs.transitionHooks, inputs.task);
  if (unusable) {
    return unusable;
  }
  const selection = selectAgent({ ...inputs, request });
  if ('status' in selection) {
    return selection;
  }
  const { agent } = selection;
  return workspaceProblem(inputs, agent) ?? selection;
}

function workspaceProblem({ task, repository }: LaunchInputs, agent: AgentConfig): Refusal | undefined {
  const name = task.git?.repo;
  if (name === undefined) {
    if (agent.provider === 'remote-callback') {
      return undefined;
    }
    return refusal('RUN_NOT_READY', 'The task names no repository; set git.repo to the name of a configured one.', {
      missing: ['git.repo'],
    });
  }
  if (repository) {
    return undefined;
  }
  return refusal('REPOSITORY_UNKNOWN', `No repository is configured as ${name}; add it with POST /api/config/repos.`, {
    repository: name,
  });
}
