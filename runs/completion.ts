import type { CompletionClaims, CompletionResult, CompletionStatus, HarnessEvidence } from '../contracts/completion';
import type { RecordedTaskEnvelope } from '../contracts/run-contract';
import type { TaskStatus } from '../contracts/task';
import { digestOf, withDigest } from './digest';

/** What is known when an attempt ends, before evidence and policy are checked. */
export interface TerminalClaim {
  terminalSource: CompletionResult['terminalSource'];
  status: CompletionStatus;
  summary: string;
  error?: string;
  claims: CompletionClaims;
  harness: HarnessEvidence;
}

type Downgrade = CompletionResult['downgrades'][number];

/**
 * The completion result of an attempt. A claimed success whose evidence does not hold becomes `partial`, with a reason
 * for each shortfall (specification 2, States: "claimed success").
 */
export function compileCompletion(
  attemptId: string,
  envelope: RecordedTaskEnvelope | undefined,
  claim: TerminalClaim,
  completedAt: string,
): CompletionResult {
  const downgrades = claim.status === 'success' ? shortfalls(envelope, claim) : [];
  return withDigest({
    schemaVersion: 'completion-result/v1' as const,
    attemptId,
    idempotencyKey: claimDigest(claim),
    completedAt,
    terminalSource: claim.terminalSource,
    status: downgrades.length > 0 ? ('partial' as const) : claim.status,
    ...(downgrades.length > 0 ? { claimedStatus: claim.status } : {}),
    downgrades,
    summary: claim.summary,
    ...(claim.error === undefined ? {} : { error: claim.error }),
    claims: claim.claims,
    harness: claim.harness,
    sideEffects: sideEffects(envelope, claim.harness),
  });
}

/** Identity of a claim: two claims with the same one are the same claim told twice. */
export const claimDigest = (claim: Pick<TerminalClaim, 'terminalSource' | 'status' | 'summary' | 'error' | 'claims'>) =>
  digestOf({
    terminalSource: claim.terminalSource,
    status: claim.status,
    summary: claim.summary,
    error: claim.error ?? null,
    claims: claim.claims,
  });

function shortfalls(envelope: RecordedTaskEnvelope | undefined, { harness, claims }: TerminalClaim): Downgrade[] {
  const found: Downgrade[] = [];
  const commits = harness.commits?.length ?? 0;
  if (envelope?.commitPolicy === 'forbidden' && commits > 0) {
    found.push({ code: 'commit-policy-violated', message: `The commit policy forbids commits; ${commits} were made.` });
  }
  if (envelope?.commitPolicy === 'required' && envelope.workspace && commits === 0) {
    found.push({ code: 'commit-missing', message: 'The commit policy requires a commit; none was made.' });
  }
  for (const gate of claims.verification ?? []) {
    if (gate.status === 'failed') {
      found.push({ code: 'verification-failed', message: `Verification ${gate.gateId} failed.` });
    }
  }
  for (const output of envelope?.expectedOutputs ?? []) {
    if (output.required && output.kind === 'commit' && commits === 0) {
      found.push({ code: 'output-missing', message: `The required output ${output.id} (a commit) is missing.` });
    }
    if (output.required && output.kind === 'artifact' && (claims.artifacts ?? []).length === 0) {
      found.push({ code: 'output-missing', message: `The required output ${output.id} (an artifact) is missing.` });
    }
  }
  return found;
}

function sideEffects(
  envelope: RecordedTaskEnvelope | undefined,
  harness: HarnessEvidence,
): CompletionResult['sideEffects'] {
  const effects: CompletionResult['sideEffects'] = [];
  const changed = harness.changedFiles?.length ?? 0;
  const commits = harness.commits?.length ?? 0;
  if (changed > 0) {
    effects.push({ kind: 'filesystem-write', description: `${changed} files changed`, authorized: true });
  }
  if (commits > 0) {
    effects.push({
      kind: 'git-commit',
      description: `${commits} commits`,
      authorized: envelope?.commitPolicy !== 'forbidden',
    });
  }
  return effects;
}

/** What the end of a run makes of its task (specification 2, States). */
export function taskStatusAfter(status: CompletionStatus): TaskStatus {
  if (status === 'success') return 'done';
  return status === 'blocked' ? 'blocked' : 'in-progress';
}
