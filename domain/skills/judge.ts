import type { Severity } from '../../contracts/knowledge/error';
import type { CapabilityFinding, SkillException, SkillProfile } from '../../contracts/knowledge/skills/skill';
import type { InstallDecision, ScanFinding, ScanRecommendation } from '../../contracts/knowledge/skills/skill-scan';
import type { SkillAnalysis } from './analyze';
import { highest } from './severity';
import { severityOf } from './taxonomy';

/** A version of a skill. */
export interface SkillVersion {
  skillId: string;
  path: string;
  digest: string;
}

/** What the skill declares, against what its files do. */
export function profileOf({ skillId, path, digest }: SkillVersion, analysis: SkillAnalysis): SkillProfile {
  const { declared, unknown } = analysis.manifest;
  const observed = analysis.observed.map(({ capability }) => capability);
  const undeclared = observed.filter((capability) => !declared?.includes(capability));
  const findings: CapabilityFinding[] = [];
  if (!declared) {
    findings.push({
      kind: 'missing-declaration',
      capability: null,
      severity: highest(undeclared.map(severityOf)) ?? 'low',
      message: 'The front matter declares no capabilities.',
    });
  }
  for (const capability of undeclared) {
    findings.push({
      kind: 'undeclared-capability',
      capability,
      severity: severityOf(capability),
      message: `Its files use ${capability}, which it does not declare.`,
    });
  }
  for (const name of unknown) {
    findings.push({
      kind: 'unknown-capability',
      capability: name,
      severity: 'low',
      message: 'The declared capability is none of the taxonomy.',
    });
  }
  for (const capability of (declared ?? []).filter((one) => !observed.includes(one))) {
    findings.push({
      kind: 'unused-declaration',
      capability,
      severity: 'low',
      message: `It declares ${capability}, which its files do not use.`,
    });
  }
  return {
    ...{ skillId, name: analysis.name, path, digest },
    declaredCapabilities: declared ?? [],
    observedCapabilities: analysis.observed,
    undeclaredObservedCapabilities: undeclared,
    status: !declared ? 'missing-declaration' : undeclared.length > 0 ? 'mismatch' : 'aligned',
    severity: highest(findings.map(({ severity }) => severity)),
    findings,
  };
}

const weights: Readonly<Record<Severity, number>> = { low: 2, medium: 8, high: 25, critical: 60 };

/** How dangerous findings are together: each rule counts once, whatever the number of places. */
export function assess(findings: readonly ScanFinding[]): {
  severity: Severity | null;
  riskScore: number;
  recommendation: ScanRecommendation;
} {
  const severity = highest(findings.map((finding) => finding.severity));
  const rules = new Map(findings.map((finding) => [finding.patternId, finding.severity]));
  const total = [...rules.values()].reduce((sum, one) => sum + weights[one], 0);
  return {
    severity,
    riskScore: Math.min(100, total),
    recommendation:
      severity === 'critical' ? 'do-not-install' : severity === 'high' || severity === 'medium' ? 'caution' : 'safe',
  };
}

/** Whether an exception counts now, for a version. */
export const exceptionState = (
  { digest, expiresAt }: Pick<SkillException, 'digest' | 'expiresAt'>,
  version: string,
  now: Date,
): 'active' | 'expired' | 'other-version' =>
  Date.parse(expiresAt) <= now.getTime() ? 'expired' : digest === version ? 'active' : 'other-version';

/**
 * Whether a skill may be installed: what the scan and its capabilities say, unless an active exception allows it.
 *
 * @param excepted whether there is one
 */
export function decideInstall(
  recommendation: ScanRecommendation,
  profile: Pick<SkillProfile, 'status' | 'undeclaredObservedCapabilities'>,
  excepted: boolean,
): { decision: InstallDecision; reasons: string[] } {
  const undeclared = profile.undeclaredObservedCapabilities.filter((one) => severityOf(one) === 'critical');
  const blocking = [
    ...(recommendation === 'do-not-install' ? ['The scan found something critical.'] : []),
    ...undeclared.map((capability) => `It uses ${capability} and does not declare it.`),
  ];
  const warning = [
    ...(recommendation === 'caution' ? ['The scan recommends caution.'] : []),
    ...(profile.status === 'mismatch' ? ['Its files use capabilities that it does not declare.'] : []),
    ...(profile.status === 'missing-declaration' ? ['It declares no capabilities.'] : []),
  ];
  const reasons = [...blocking, ...warning];
  if (excepted && reasons.length > 0) {
    return { decision: 'allow', reasons: [...reasons, 'A reviewed exception allows it.'] };
  }
  return { decision: blocking.length > 0 ? 'block' : warning.length > 0 ? 'warn' : 'allow', reasons };
}
