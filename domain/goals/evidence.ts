import type { CompletionEvidence, CompletionRequirement, Goal } from '../../contracts/governance/goals/goal';
import type { CompletionResult } from '../../contracts/runs/completion';
import { cut } from '../../platform/text/cut';
import { goalLimits } from './limits';

type Proven = Pick<CompletionEvidence, 'requirementId' | 'evidenceId' | 'summary'>;

/** Kinds of requirements whose evidence only people give. */
const byPeople: ReadonlySet<CompletionRequirement['verificationKind']> = new Set(['operator', 'external', 'other']);

export const needsPerson = ({ verificationKind }: Pick<CompletionRequirement, 'verificationKind'>): boolean =>
  byPeople.has(verificationKind);

/**
 * What a successful run proves of the requirements: a gate of a test or build that it reported as passed, or an artifact that its
 * host has found. A run that was downgraded proves nothing.
 */
export function evidenceOf(
  requirements: readonly CompletionRequirement[],
  { attemptId, status, verification = [], artifacts = [] }: CompletionResult,
): Proven[] {
  if (status !== 'success') {
    return [];
  }
  return requirements.flatMap((requirement): Proven[] => {
    const { id: requirementId, verificationKind } = requirement;
    if (needsPerson(requirement)) {
      return [];
    }
    if (verificationKind === 'artifact') {
      const found = artifacts.find(
        ({ id, name, verified }) => verified && (id === requirementId || name === requirementId),
      );
      return found ? [{ requirementId, evidenceId: attemptId, summary: cut(found.reference, 2_000) }] : [];
    }
    const gate = verification.find(({ gateId, status: result }) => gateId === requirementId && result === 'passed');
    return gate ? [{ requirementId, evidenceId: attemptId, summary: gate.summary ?? `${gate.gateId} passed.` }] : [];
  });
}

/** The goal with more evidence; the same evidence is recorded once, and none beyond the limit. */
export function withEvidence(
  goal: Goal,
  proven: readonly Proven[],
  { verifier, at: verifiedAt }: { verifier: string; at: string },
): Goal {
  const seen = new Set(
    goal.completionEvidence.map(({ requirementId, evidenceId }) => `${requirementId}\n${evidenceId}`),
  );
  const added = proven
    .filter(({ requirementId, evidenceId }) => !seen.has(`${requirementId}\n${evidenceId}`))
    .map((item) => ({ ...item, verifier, verifiedAt }));
  return { ...goal, completionEvidence: [...goal.completionEvidence, ...added].slice(0, goalLimits.evidence) };
}
