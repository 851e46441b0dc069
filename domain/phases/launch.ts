import type { Phase } from '../../contracts/common';
import type { Refusal } from '../../contracts/refusal';
import type { ProviderRuntimeManifest } from '../../contracts/runs/launch/contract';
import type { PhaseBlocker, PhaseEvidence } from '../../contracts/runs/phase';
import { refusal } from '../refusal';
import { authorityOf, type Compiled, compilePhase, enforcementCodes, legacyEvidence, type Sources } from './evidence';

export interface PhaseLaunch {
  /** The requested phase; absent when none was. */
  requested: Phase | undefined;
  /** What the attempt this one descends from may do, without emergencies. */
  parent: PhaseEvidence | undefined;
  sources: Sources;
  runtime: ProviderRuntimeManifest;
}

/**
 * What a new attempt may do: never more than its parent. Without a phase it continues in the parent's when that has one, and is
 * otherwise under no limits, explicitly (specification 2, Launch rule 3).
 */
export function launchPhase({ requested, parent, sources, runtime }: PhaseLaunch): Compiled {
  const inherited = parent?.mode === 'profile' ? parent : undefined;
  const limits: Sources = parent ? { ...sources, parent: authorityOf(parent) } : sources;
  const phase = requested ?? inherited?.phase;
  if (phase === undefined) {
    return { evidence: legacyEvidence(limits, runtime), blockers: [] };
  }
  const planPaths = phase === 'plan' ? (inherited?.dimensions['artifact.plan.write'].scopes ?? []) : [];
  const dimensions = planPaths.length > 0 ? { 'artifact.plan.write': { scopes: planPaths } } : {};
  return compilePhase({ phase, dimensions }, limits, runtime);
}

/** The refusal of a phase that is blocked. */
export const phaseRefusal = (phase: Phase, blockers: PhaseBlocker[]): Refusal =>
  refusal(
    'PHASE_UNSUPPORTED',
    `The run cannot be in the phase ${phase}: ${blockers.map(({ message }) => message).join(' ')}`.slice(0, 1_000),
    { phase, blockers, remediation: remediesOf(blockers) },
  );

/** What to do about a phase's blockers. */
function remediesOf(blockers: PhaseBlocker[]): string[] {
  const has = (...codes: PhaseBlocker['code'][]): boolean => blockers.some(({ code }) => codes.includes(code));
  return [
    ...(has('phase-required-authority-denied')
      ? ['Choose a phase that requires no more than its parent attempt, profile, sandbox and task allow.']
      : []),
    ...(has(...Object.values(enforcementCodes))
      ? [
          'Launch it in the phase implement, or without one.',
          'Or run the agent inside something that enforces these dimensions, and name what it enforces under hostEnforced in the configuration of the agent (docs/use/runs/phases.md).',
        ]
      : []),
    ...(has('phase-plan-artifact-not-allowed', 'phase-plan-artifact-path-invalid')
      ? ['Set one plan file: a relative path in the worktree.']
      : []),
  ];
}
