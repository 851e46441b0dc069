import type { Refusal } from '../../contracts/refusal';
import type { ProviderRuntimeManifest, TaskEnvelope, TransportSection } from '../../contracts/runs/launch/contract';
import type { RunLaunchManifest } from '../../contracts/runs/launch/manifest';
import { refusal } from '../refusal';
import type { Gate } from './enforcement';
import { compileEnvelope } from './envelope';
import type { ContractInput } from './input';
import { compileManifest } from './manifest';
import { transportSections } from './transport';

export interface LaunchContract {
  providerRuntimeManifest: ProviderRuntimeManifest;
  taskEnvelope: TaskEnvelope;
  runLaunchManifest: RunLaunchManifest;
  sections: TransportSection[];
}

/** Compiles the launch contract. Pure and deterministic: the same input has the same digests. */
export function compileContract(input: ContractInput): LaunchContract {
  const taskEnvelope = compileEnvelope(input);
  const sections = transportSections(input);
  return {
    providerRuntimeManifest: input.runtime,
    taskEnvelope,
    runLaunchManifest: compileManifest(input, taskEnvelope, sections),
    sections,
  };
}

/** The refusal that blockers are: what cannot be enforced is not launched. */
export function blocked(
  agent: string,
  { blockers, warnings, requirements }: Pick<Gate, 'blockers' | 'warnings' | 'requirements'>,
): Refusal | undefined {
  if (blockers.length === 0) {
    return undefined;
  }
  const missing = requirements.filter(({ state }) => state !== 'supported' && state !== 'advisory');
  return refusal(
    missing.length > 0 ? 'CAPABILITY_UNSUPPORTED' : 'LAUNCH_NOT_ENFORCEABLE',
    `Agent ${agent} cannot be launched like this: ${blockers.map(({ message }) => message).join(' ')}`,
    {
      agent,
      blockers,
      warnings,
      requiredCapabilities: requirements.map(({ id }) => id),
      reasons: missing,
      remediation: 'Choose an agent that can enforce these, or require less in the request, profile or sandbox preset.',
    },
  );
}

/** The same for a compiled manifest. */
export const enforcementProblem = ({ enforcement, routing, requirements }: RunLaunchManifest) =>
  blocked(routing.selectedAgent, { ...enforcement, requirements: requirements.capabilities });
