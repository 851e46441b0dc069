import type { Refusal } from '../contracts/refusal';
import type { LaunchRequest } from '../contracts/runs/launch/launch';
import type { AgentConfig } from '../contracts/settings/agent-config';
import type { Profile } from '../contracts/settings/profile';
import type { SandboxPreset } from '../contracts/settings/sandbox';
import { toolServerKeys } from '../contracts/settings/tool-server';
import { compact } from '../platform/json/compact';
import { environmentKeysOf } from './contract/enforcement';
import type { Selection } from './contract/input';
import { refusal } from './refusal';

export interface LaunchOptions {
  request: LaunchRequest;
  profile: Profile | undefined;
  sandbox: SandboxPreset | undefined;
}

/** Why a launch cannot use the profile and the sandbox preset it names; that they can be enforced is checked later. */
export function optionsProblem({ request, profile, sandbox }: LaunchOptions): Refusal | undefined {
  const { profileId, sandboxPresetId } = request;
  if (profileId !== undefined) {
    if (!profile) {
      return unusable('profileId', profileId, `No profile has the id ${profileId}.`);
    }
    if (!profile.enabled) {
      return unusable('profileId', profileId, `The profile ${profileId} is disabled.`);
    }
    if (request.agent !== undefined && request.agent !== profile.agent) {
      const message = `The profile ${profileId} runs ${profile.agent}, not ${request.agent}; omit agent.`;
      return unusable('agent', request.agent, message);
    }
  }
  if (sandboxPresetId !== undefined) {
    if (!sandbox) {
      return unusable('sandboxPresetId', sandboxPresetId, `No sandbox preset has the id ${sandboxPresetId}.`);
    }
    if (!sandbox.enabled) {
      return unusable('sandboxPresetId', sandboxPresetId, `The sandbox preset ${sandboxPresetId} is disabled.`);
    }
  }
  return undefined;
}

const unusable = (field: string, value: string, message: string): Refusal =>
  refusal('RUN_NOT_READY', message, { field, value });

/** The request with the agent its profile names. */
export const withProfile = (request: LaunchRequest, profile: Profile | undefined): LaunchRequest =>
  profile ? { ...request, agent: profile.agent } : request;

/** What a launch changes about the agent it runs. */
export interface LaunchedWith {
  request: Pick<LaunchRequest, 'model' | 'mode'>;
  selection: Pick<Selection, 'model'>;
  profile: Profile | null;
  sandbox: SandboxPreset | null;
}

/**
 * The configured agent as a launch runs it: with the model and mode that the request, its route or its profile selects, the tool
 * servers that its profile allows, and the environment that its sandbox passes. A queued launch is compared with this once more when it is dispatched.
 */
export function launchedAgent(agent: AgentConfig, { request, selection, profile, sandbox }: LaunchedWith): AgentConfig {
  const model = request.model ?? selection.model ?? profile?.model ?? agent.model;
  const mode = request.mode ?? profile?.mode ?? agent.mode;
  return {
    ...agent,
    ...compact({
      model,
      mode,
      mcpServers: allowedServers(agent, { profile, sandbox }),
      toolServers: namedServers(agent, profile),
    }),
    environmentKeys: environmentKeysOf({ agent, sandbox }),
  };
}

/** The tool servers whose names the profile allows and whose variables the sandbox passes. */
function allowedServers(
  { mcpServers }: AgentConfig,
  { profile, sandbox }: Pick<LaunchedWith, 'profile' | 'sandbox'>,
): AgentConfig['mcpServers'] {
  const names = profile?.restrictions.mcpServers;
  const passed = sandbox?.environment.passthrough;
  return mcpServers?.filter(
    (server) =>
      (names === undefined || names.includes(server.name)) &&
      toolServerKeys(server).every((key) => passed === undefined || passed.includes(key)),
  );
}

/** The tool servers of the board that a launch names, as far as the profile allows their ids. */
function namedServers({ toolServers }: AgentConfig, profile: Profile | null): AgentConfig['toolServers'] {
  const allowed = profile?.restrictions.mcpServers;
  return (profile?.toolServers ?? toolServers)?.filter((id) => allowed === undefined || allowed.includes(id));
}

/** Why an agent is given no tools: it runs elsewhere, where no handle of its attempt is. */
export function toolServersProblem({ type, provider, toolServers = [] }: AgentConfig): Refusal | undefined {
  if (toolServers.length === 0 || provider !== 'remote-callback') {
    return undefined;
  }
  const message = `Only agents that a host starts are given tool servers; ${type} is of ${provider}.`;
  return unusable('toolServers', toolServers.join(', '), message);
}

/** Why a launch cannot choose a model or a mode of its agent; what the agent offers is checked on its host. */
export function sessionOptionsProblem(
  agent: AgentConfig,
  { request, profile }: Pick<LaunchOptions, 'request'> & { profile: Profile | null },
): Refusal | undefined {
  const chosen = { model: request.model, mode: request.mode ?? profile?.mode };
  for (const field of ['model', 'mode'] as const) {
    const value = chosen[field];
    if (value !== undefined && agent.provider !== 'acp') {
      const message = `Only agents of the provider acp are launched with a ${field}; ${agent.type} is of ${agent.provider}.`;
      return unusable(field, value, message);
    }
  }
  return undefined;
}
