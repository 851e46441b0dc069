import type { AgentConfig } from '../contracts/agent-config';
import type { LaunchRefusal, LaunchRequest } from '../contracts/launch';
import type { Repository } from '../contracts/repository';
import type { Profile } from '../contracts/profile';
import type { SandboxPreset } from '../contracts/sandbox';
import type { Task, TaskLocation } from '../contracts/task';
import type { ChildAuthority } from './children/authority';
import { optionsProblem, withProfile } from './launch-options';
import { refusal } from './refusal';
import type { RouteDecision } from './routing/decide';
import { selectAgent, type AgentSelection } from './routing/launch';

/** Everything the gate looks at; loaded once by whoever asks. */
export interface LaunchSubject extends Partial<Pick<ChildAuthority, 'inherited' | 'problem'>> {
  task: Task;
  location: TaskLocation;
  request: LaunchRequest;
  agents: AgentConfig[];
  /** What routing says about retries of a lost run. */
  maxRetries: number;
  /** How it is routed, when it names no agent. */
  route: RouteDecision | undefined;
  repository: Repository | undefined;
  /** What the request names by id, when it exists, or what its parent attempt has. */
  profile: Profile | undefined;
  sandbox: SandboxPreset | undefined;
  /** The legacy setting `features.agents.autoCommitOnComplete`. */
  autoCommitOnComplete: boolean;
  /** How long the run may take by the settings, in milliseconds. */
  timeoutMs?: number;
}

export type LaunchSelection = AgentSelection;

/**
 * The readiness gate that preview and start share (specification 2, Launch rule 1): selects the agent, or says why
 * this task cannot be launched now and what to do about it. Pure; capacity and a running attempt are admission's.
 */
export function selectLaunch(subject: LaunchSubject): LaunchSelection | LaunchRefusal {
  const request = withProfile(subject.request, subject.profile);
  if (subject.location !== 'active') {
    return refusal('RUN_NOT_READY', 409, `The task is in the ${subject.location}; move it to the active board first.`, {
      location: subject.location,
    });
  }
  const unusable = subject.problem ?? optionsProblem(subject);
  if (unusable) return unusable;
  const selection = selectAgent({ ...subject, request });
  if ('status' in selection) return selection;
  const { agent } = selection;
  return workspaceProblem(subject, agent) ?? selection;
}

function workspaceProblem({ task, repository }: LaunchSubject, agent: AgentConfig): LaunchRefusal | undefined {
  const name = task.git?.repo;
  if (name === undefined) {
    if (agent.provider === 'remote-callback') return undefined;
    return refusal(
      'RUN_NOT_READY',
      409,
      'The task names no repository; set git.repo to the name of a configured one.',
      {
        missing: ['git.repo'],
      },
    );
  }
  if (repository) return undefined;
  return refusal(
    'REPOSITORY_UNKNOWN',
    409,
    `No repository is configured as ${name}; add it with POST /api/config/repos.`,
    {
      repository: name,
    },
  );
}
