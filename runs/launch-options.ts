import type { AgentConfig } from '../contracts/agent-config';
import type { LaunchRefusal, LaunchRequest } from '../contracts/launch';
import type { Profile } from '../contracts/profile';
import type { SandboxPreset } from '../contracts/sandbox';
import { secretProblem } from './contract/secrets';
import { refusal } from './refusal';

export interface LaunchOptions {
  request: LaunchRequest;
  profile: Profile | undefined;
  sandbox: SandboxPreset | undefined;
}

/** Why a launch cannot use the profile and the sandbox preset it names; that they can be enforced is asked later. */
export function optionsProblem({ request, profile, sandbox }: LaunchOptions): LaunchRefusal | undefined {
  const { profileId, sandboxPresetId } = request;
  if (profileId !== undefined) {
    if (!profile) return unusable('profileId', profileId, `No profile has the id ${profileId}.`);
    if (!profile.enabled) return unusable('profileId', profileId, `The profile ${profileId} is disabled.`);
    if (request.agent !== undefined && request.agent !== profile.agent) {
      const message = `The profile ${profileId} runs ${profile.agent}, not ${request.agent}; leave agent out.`;
      return unusable('agent', request.agent, message);
    }
  }
  if (sandboxPresetId !== undefined) {
    if (!sandbox)
      return unusable('sandboxPresetId', sandboxPresetId, `No sandbox preset has the id ${sandboxPresetId}.`);
    if (!sandbox.enabled) {
      return unusable('sandboxPresetId', sandboxPresetId, `The sandbox preset ${sandboxPresetId} is disabled.`);
    }
  }
  return undefined;
}

const unusable = (field: string, value: string, message: string): LaunchRefusal =>
  refusal('RUN_NOT_READY', 409, message, { field, value });

/** The request with the agent its profile names. */
export const withProfile = (request: LaunchRequest, profile: Profile | undefined): LaunchRequest =>
  profile ? { ...request, agent: profile.agent } : request;

/** The agent as a profile runs it, or why neither may be launched as they are configured. */
export function profiledAgent(agent: AgentConfig, profile: Profile | undefined): AgentConfig | LaunchRefusal {
  const problem = secretProblem(agent, profile ?? null);
  if (problem) return problem;
  return profile?.model === undefined ? agent : { ...agent, model: profile.model };
}
