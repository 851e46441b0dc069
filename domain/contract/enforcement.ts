import type { ProviderRuntimeManifest } from '../../contracts/runs/launch/contract';
import type { LaunchFinding, RunLaunchManifest } from '../../contracts/runs/launch/manifest';
import type { HealthCheck, Profile } from '../../contracts/settings/profile';
import { toolServerKeys } from '../../contracts/settings/tool-server';
import { controlsOf } from '../sandbox/controls';
import type { ContractInput } from './input';

type CapabilityState = ProviderRuntimeManifest['capabilities'][number]['state'];
type Control = NonNullable<RunLaunchManifest['sandbox']>['controls'][number];

/** What every launch rests on. */
export const baselineCapabilities = ['run.start', 'run.status', 'run.logs', 'run.complete', 'workspace.worktrees'];

export interface Gate {
  requirements: RunLaunchManifest['requirements']['capabilities'];
  controls: Control[];
  blockers: LaunchFinding[];
  warnings: LaunchFinding[];
  /** How many checks there were, those that block included. */
  total: number;
}

type GateInput = Pick<
  ContractInput,
  'request' | 'profile' | 'sandbox' | 'runtime' | 'agent' | 'objective' | 'trust' | 'missingVariables'
> & {
  hasRepository: boolean;
  /** Contradictions in the contract itself. */
  contradictions?: LaunchFinding[];
};

/**
 * Everything a launch requires of its agent's runtime, and what of it is met: required capabilities, the checks and
 * restrictions of the profile, the controls of the sandbox. What cannot be enforced blocks; what is only advised warns
 * (specification 2, Launch rule 2).
 */
export function gateOf(input: GateInput): Gate {
  const states = new Map(input.runtime.capabilities.map(({ id, state }) => [id, state]));
  const stateOf = (id: string): CapabilityState => states.get(id) ?? 'unknown';
  const requirements = requirementsOf(input, stateOf);
  const controls = input.sandbox ? controlsOf(input.sandbox, input.runtime) : [];
  const asked = input.sandbox?.enforcement === 'advisory' ? 'warnings' : 'blockers';
  const findings = [
    ...(input.contradictions ?? []).map((finding): Finding => ({ as: 'blockers', ...finding })),
    ...requirements.flatMap(requirementFinding),
    ...restrictionFindings(input.profile, stateOf),
    ...checkFindings(input, stateOf),
    ...controls.flatMap((control) => controlFinding(control, asked)),
    ...missingFindings(input),
    ...(input.trust?.warnings ?? []).map((finding): Finding => ({ as: 'warnings', ...finding })),
    ...input.objective.notes.map((message): Finding => ({ as: 'warnings', code: 'task-text-changed', message })),
  ];
  const advisories = input.runtime.capabilities.filter(({ state }) => state === 'advisory');
  const of = (as: Finding['as']) =>
    findings.filter((finding) => finding.as === as).map(({ as: _as, ...finding }): LaunchFinding => finding);
  return {
    requirements,
    controls,
    blockers: of('blockers'),
    warnings: [
      ...of('warnings'),
      ...advisories.map(({ id, reason }) => ({ code: `advisory:${id}`, message: reason ?? id })),
    ],
    total:
      requirements.length +
      controls.length +
      (input.contradictions?.length ?? 0) +
      (input.profile?.requiredChecks.length ?? 0) +
      restrictedBy(input.profile).length,
  };
}

type Finding = LaunchFinding & { as: 'blockers' | 'warnings' };
type StateOf = (id: string) => CapabilityState;

function requirementsOf({ request, sandbox }: GateInput, stateOf: StateOf): Gate['requirements'] {
  const ids = [
    ...baselineCapabilities,
    ...(request.requiredRuntimeCapabilities ?? []),
    ...(sandbox?.requiredCapabilities ?? []),
  ];
  return [...new Set(ids)].map((id) => ({ id, state: stateOf(id), required: true }));
}

function requirementFinding({ id, state }: Gate['requirements'][number]): Finding[] {
  if (state === 'supported') {
    return [];
  }
  if (state === 'advisory') {
    return [{ as: 'warnings', code: `required-advisory:${id}`, message: `The required capability ${id} is advisory.` }];
  }
  return [
    {
      as: 'blockers',
      code: `required-${state}:${id}`,
      message: `The required capability ${id} is ${state}.`,
      remedy: `Choose an agent that supports ${id} (GET /api/config/agent-support), or do not require it.`,
    },
  ];
}

/** Kinds of restrictions and the capability an adapter needs to enforce them. */
const restrictionCapabilities = { tools: 'tool.calls', mcpServers: 'tool.mcp', permissions: 'run.approvals' } as const;

function restrictedBy(profile: Profile | null): (keyof typeof restrictionCapabilities)[] {
  const restrictions = profile?.restrictions ?? {};
  return (['tools', 'mcpServers', 'permissions'] as const).filter((kind) => restrictions[kind] !== undefined);
}

const restrictionFindings = (profile: Profile | null, stateOf: StateOf): Finding[] =>
  restrictedBy(profile).flatMap((kind) => {
    const id = restrictionCapabilities[kind];
    const state = stateOf(id);
    if (state === 'supported') {
      return [];
    }
    const message = `The profile restricts ${kind}; its adapter cannot enforce that (${id} is ${state}).`;
    const remedy = `Choose an agent that supports ${id}, or take ${kind} out of the restrictions of the profile.`;
    return [{ as: 'blockers', code: `restriction-unenforceable:${kind}`, message, remedy }];
  });

function checkFindings(input: GateInput, stateOf: StateOf): Finding[] {
  return (input.profile?.requiredChecks ?? []).flatMap((check) => {
    if (holds(check, input, stateOf)) {
      return [];
    }
    const name = check.kind === 'capability' ? `capability:${check.capability}` : check.kind;
    const message = `The required check ${name} of the profile ${input.profile?.id ?? ''} does not hold.`;
    return [{ as: 'blockers', code: `check-failed:${name}`, message, remedy: checkRemedies[check.kind] }];
  });
}

const checkRemedies: Record<HealthCheck['kind'], string> = {
  'agent-enabled': 'Enable the agent with PUT /api/config/agents.',
  'executable-found':
    'Install the program of the agent on its host: POST /api/config/agents/:type/check reports what is missing.',
  'repository-configured': 'Set git.repo of the task to the name of a configured repository.',
  capability: 'Choose an agent that supports it (GET /api/config/agent-support).',
};

function holds(check: HealthCheck, { agent, runtime, hasRepository }: GateInput, stateOf: StateOf): boolean {
  switch (check.kind) {
    case 'agent-enabled':
      return agent.enabled;
    case 'executable-found':
      return runtime.probe.state === 'ready';
    case 'repository-configured':
      return hasRepository;
    case 'capability':
      return stateOf(check.capability) === 'supported';
  }
}

function controlFinding({ control, capabilityId, state, enforced }: Control, asked: Finding['as']): Finding[] {
  if (enforced) {
    return [];
  }
  const message = `The sandbox control ${control} needs ${capabilityId}, which is ${state}.`;
  const as = state === 'advisory' ? 'warnings' : asked;
  const remedy = `Choose an agent that supports ${capabilityId}, take the control out of the preset, or make the preset advisory.`;
  return [{ as, code: `sandbox-unenforced:${control}`, message, remedy }];
}

/** Variables the agent would get, were they set on its host. */
const missingFindings = (input: GateInput): Finding[] =>
  [...new Set([...environmentKeysOf(input), ...(input.agent.mcpServers ?? []).flatMap(toolServerKeys)])]
    .filter((name) => input.missingVariables?.includes(name))
    .map((name) => ({
      as: 'warnings',
      code: `environment-missing:${name}`,
      message: `The environment variable ${name} of the agent is not set on its host.`,
      variable: name,
      remedy: `Set ${name} in the environment of the worker, or take it out of the configuration of the agent.`,
    }));

/** The variables of an agent's environment: those of its configuration that the sandbox lets through. */
export const environmentKeysOf = ({ agent, sandbox }: Pick<ContractInput, 'agent' | 'sandbox'>): string[] => {
  const passed = sandbox?.environment.passthrough;
  return passed ? agent.environmentKeys.filter((key) => passed.includes(key)) : agent.environmentKeys;
};
