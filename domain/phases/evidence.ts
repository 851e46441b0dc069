import type { Phase } from '../../contracts/common';
import type { ProviderRuntimeManifest } from '../../contracts/runs/launch/contract';
import type {
  PhaseBlocker,
  PhaseDimension,
  PhaseEnforcement,
  PhaseEvidence,
  PhaseSource,
  PhaseTarget,
} from '../../contracts/runs/phase';
import { withDigest } from '../../platform/json/digest';
import { type Authority, dimensions, everything, mapAuthority, meet, meetScoped, unlimited } from './authority';
import { enforcementOf, needsEnforcement } from './enforcement';
import { planPathProblem } from './plan-path';
import { phaseAuthority, requiredScopes } from './table';

/** What each source allows; one that states nothing restricts nothing. */
export type Sources = Partial<Record<PhaseSource, Authority>>;

export interface Compiled {
  evidence: PhaseEvidence;
  /** What blocks the phase; empty when nothing does. */
  blockers: PhaseBlocker[];
}

const plan = 'artifact.plan.write';

/** The authority in evidence. */
export const authorityOf = ({ dimensions: granted }: PhaseEvidence): Authority =>
  mapAuthority((dimension) => granted[dimension]);

/** Everything that the sources allow together. */
const ceilingOf = (sources: Sources): Authority => Object.values(sources).reduce(meet, unlimited);

/** Evidence of a run without a phase: under no limits but those of its sources. */
export const legacyEvidence = (sources: Sources, runtime: ProviderRuntimeManifest): PhaseEvidence =>
  evidenceOf('implement', unlimited, { mode: 'legacy', sources, runtime });

/**
 * The evidence of a phase: what its row of the table allows, less what the caller excludes, less what the sources do not allow
 * (specification 2, Launch rule 3).
 */
export function compilePhase(
  { phase, dimensions: requested = {} }: PhaseTarget,
  sources: Sources,
  runtime: ProviderRuntimeManifest,
): Compiled {
  const [planPath, ...morePaths] = requested[plan]?.scopes ?? [];
  const row = phaseAuthority(phase, planPath);
  const asked = mapAuthority((dimension) => {
    const chosen = requested[dimension];
    return chosen ? { scopes: chosen.scopes, approval: chosen.approval ?? [] } : row[dimension];
  });
  const evidence = evidenceOf(phase, meet(row, asked), { mode: 'profile', sources, runtime });
  const requestedScopes = (dimension: PhaseDimension): string[] => [
    ...requiredScopes(phase, dimension),
    ...(dimension === plan ? [] : (requested[dimension]?.scopes ?? [])),
  ];
  return {
    evidence,
    blockers: [
      ...planBlockers(phase, planPath, morePaths),
      ...dimensions.flatMap((dimension) => blockersOf(dimension, evidence, requestedScopes(dimension))),
    ],
  };
}

function evidenceOf(
  phase: Phase,
  row: Authority,
  { mode, sources, runtime }: { mode: PhaseEvidence['mode']; sources: Sources; runtime: ProviderRuntimeManifest },
): PhaseEvidence {
  const authority = meet(row, ceilingOf(sources));
  const enforcement = enforcementOf(authority, runtime, sources.sandbox);
  const limits = Object.entries(sources) as [PhaseSource, Authority][];
  const limitedBy = (dimension: PhaseDimension) =>
    limits
      .filter(
        ([, source]) =>
          JSON.stringify(meetScoped(row[dimension], source[dimension])) !== JSON.stringify(row[dimension]),
      )
      .map(([name]) => name);
  return withDigest({
    schemaVersion: 'phase-capability-evidence/v1' as const,
    phase,
    mode,
    dimensions: Object.fromEntries(
      dimensions.map((dimension) => [
        dimension,
        { ...authority[dimension], enforcement: enforcement[dimension], limitedBy: limitedBy(dimension) },
      ]),
    ) as PhaseEvidence['dimensions'],
  });
}

/** The code of a blocker whose dimension cannot be limited. */
export const enforcementCodes: Record<Exclude<PhaseEnforcement, 'enforced'>, PhaseBlocker['code']> = {
  unenforceable: 'phase-required-authority-unenforceable',
  unsupported: 'phase-required-authority-unsupported',
};

/** @param requestedScopes scopes that the phase needs or the caller names */
function blockersOf(
  dimension: PhaseDimension,
  { phase, dimensions: granted }: PhaseEvidence,
  requestedScopes: string[],
): PhaseBlocker[] {
  const { scopes, enforcement, limitedBy } = granted[dimension];
  const missing = scopes.includes(everything) ? [] : requestedScopes.filter((scope) => !scopes.includes(scope));
  const blockers: PhaseBlocker[] = [];
  if (missing.length > 0) {
    const by = limitedBy.length > 0 ? limitedBy.join(', ') : `the phase ${phase}`;
    blockers.push({
      code: 'phase-required-authority-denied',
      dimension,
      message: `${dimension} of ${missing.join(', ')} is not allowed by ${by}.`,
      requestedScopes: missing,
    });
  }
  if (enforcement !== 'enforced' && needsEnforcement(dimension, granted[dimension])) {
    const why =
      enforcement === 'unsupported' ? 'its runtime does not support it' : 'nothing restricts the agent to that';
    blockers.push({
      code: enforcementCodes[enforcement],
      dimension,
      message: `The limits of ${dimension} in the phase ${phase} cannot be enforced: ${why}.`,
      requestedScopes: scopes,
    });
  }
  return blockers;
}

function planBlockers(phase: Phase, path: string | undefined, more: string[]): PhaseBlocker[] {
  if (path === undefined) {
    return [];
  }
  const blocker = (code: PhaseBlocker['code'], message: string): PhaseBlocker[] => [
    { code, dimension: plan, message, requestedScopes: [path, ...more] },
  ];
  if (phase !== 'plan') {
    return blocker('phase-plan-artifact-not-allowed', `The phase ${phase} writes no plan file.`);
  }
  if (more.length > 0) {
    return blocker('phase-plan-artifact-path-invalid', 'A plan is one file: give one path.');
  }
  const problem = planPathProblem(path);
  return problem === undefined
    ? []
    : blocker('phase-plan-artifact-path-invalid', `The path of the plan file ${problem}.`);
}
