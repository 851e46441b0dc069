import type { ProviderRuntimeManifest } from '../../contracts/runs/launch/contract';
import type { SandboxPreset, SandboxQuestion, SandboxRule, SandboxVerdict } from '../../contracts/settings/sandbox';
import { clampToWorktree } from '../contract/path-scope';
import { controlsOf } from './controls';
import { networkModeOf } from './network';

export type SandboxJudgement = Pick<SandboxVerdict, 'decision' | 'effective' | 'unsupportedRules' | 'warnings'>;

/** What of a preset a runtime enforces, as a launch would find it: `block` where a launch would be refused. */
export function judgePreset(
  preset: SandboxPreset,
  runtime: ProviderRuntimeManifest,
  question: Pick<SandboxQuestion, 'requiredCapabilities' | 'workspacePath'>,
): SandboxJudgement {
  const required = requiredRules(runtime, [...preset.requiredCapabilities, ...question.requiredCapabilities]);
  const controls = controlsOf(preset, runtime)
    .filter(({ enforced }) => !enforced)
    .map(({ control: rule, capabilityId, state }): SandboxRule => ({
      ...{ rule, capabilityId, state },
      message: `The sandbox control ${rule} needs ${capabilityId}, which is ${state}.`,
    }));
  const paths = pathRules(preset, question.workspacePath);
  const isAdvisory = ({ state }: SandboxRule): boolean => state === 'advisory';
  const unsupportedRules = [...paths, ...[...required, ...controls].filter((rule) => !isAdvisory(rule))];
  // What a launch requires blocks it also under a preset that only advises.
  const blocks =
    preset.enforcement === 'required' ? unsupportedRules : [...paths, ...required.filter((rule) => !isAdvisory(rule))];
  const warnings = [
    ...[...required, ...controls].filter(isAdvisory),
    ...unsupportedRules.filter((rule) => !blocks.includes(rule)),
  ];
  return {
    decision: blocks.length > 0 ? 'block' : warnings.length > 0 ? 'warn' : 'allow',
    effective: effectiveOf(preset, runtime),
    unsupportedRules,
    warnings,
  };
}

function requiredRules({ capabilities }: ProviderRuntimeManifest, ids: readonly string[]): SandboxRule[] {
  return [...new Set(ids)].flatMap((capabilityId) => {
    const state = capabilities.find(({ id }) => id === capabilityId)?.state ?? 'unknown';
    const message = `The required capability ${capabilityId} is ${state}.`;
    return state === 'supported' ? [] : [{ rule: 'requiredCapabilities', capabilityId, state, message }];
  });
}

/** A preset that denies the worktree itself lets no run begin in it. */
function pathRules({ filesystem }: SandboxPreset, workspacePath: string | undefined): SandboxRule[] {
  const denied = filesystem.deniedPaths.find((path) => clampToWorktree(path, workspacePath ?? null) === '.');
  return denied === undefined
    ? []
    : [
        {
          rule: 'filesystem.deniedPaths',
          capabilityId: 'filesystem.deny-paths',
          state: 'unsupported',
          message: `The denied path ${denied} is the worktree itself: no run can work in it.`,
        },
      ];
}

function effectiveOf(preset: SandboxPreset, runtime: ProviderRuntimeManifest): SandboxJudgement['effective'] {
  const { filesystem, network, environment, credentials } = preset;
  const isConfined = runtime.capabilities.some(
    ({ id, state }) => id === 'filesystem.deny-paths' && state === 'supported',
  );
  const isCut = runtime.capabilities.some(({ id, state }) => id === 'network.disable' && state === 'supported');
  const mode = filesystem.writePaths.length > 0 ? 'selected-paths' : 'workspace-write';
  return {
    sandboxMode: isConfined ? mode : 'unconfined',
    networkAccessEnabled: networkModeOf(network) !== 'none' || !isCut,
    envPassthrough: environment.passthrough ?? null,
    credentialRefs: credentials.brokerRefs,
  };
}
