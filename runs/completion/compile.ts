import type { CompletionResult, CompletionStatus, SideEffect } from '../../contracts/completion';
import type { RecordedTaskEnvelope } from '../../contracts/run-contract';
import type { TaskStatus } from '../../contracts/task';
import { withDigest } from '../digest';
import { claimDigest, type TerminalClaim } from './claim';
import { checkClaims, type CheckedClaims } from './evidence';
import { missingOutputs } from './outputs';
import { sideEffectsOf } from './side-effects';

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
  const checked = checkClaims(claim);
  const sideEffects = sideEffectsOf(envelope, claim.harness, checked);
  const downgrades = claim.status === 'success' ? shortfalls(envelope, claim, checked, sideEffects) : [];
  return withDigest({
    schemaVersion: 'completion-result/v1' as const,
    attemptId,
    idempotencyKey: claimDigest(claim),
    completedAt,
    terminalSource: claim.terminalSource,
    status: downgrades.length > 0 ? ('partial' as const) : claim.status,
    ...(downgrades.length > 0 && claim.harness.unreported !== true ? { claimedStatus: claim.status } : {}),
    downgrades,
    summary: claim.summary,
    ...(claim.error === undefined ? {} : { error: claim.error }),
    claims: claim.claims,
    harness: claim.harness,
    blockers: claim.claims.blockers ?? [],
    evidence: checked.evidence,
    changedFiles: checked.changedFiles,
    artifacts: checked.artifacts,
    verification: claim.claims.verification ?? [],
    sideEffects,
    continuation: claim.claims.continuation ?? null,
    ...(envelope ? { phase: { phase: envelope.phase, evidence: 'legacy' as const } } : {}),
  });
}

function shortfalls(
  envelope: RecordedTaskEnvelope | undefined,
  claim: TerminalClaim,
  checked: CheckedClaims,
  sideEffects: SideEffect[],
): Downgrade[] {
  const unauthorized = sideEffects.filter(({ kind, authorized }) => !authorized && kind !== 'git-commit');
  return [
    ...(claim.harness.workLost === undefined ? [] : [{ code: 'work-lost', message: claim.harness.workLost }]),
    ...resultShortfalls(claim),
    ...commitShortfalls(envelope, claim, sideEffects),
    ...(claim.claims.verification ?? [])
      .filter(({ status }) => status === 'failed')
      .map(({ gateId }) => ({ code: 'verification-failed', message: `Verification ${gateId} failed.` })),
    ...missingOutputs(envelope, claim, checked).map(({ id, kind }) => ({
      code: 'output-missing',
      message: `The required output ${id} (${kind}) is missing.`,
    })),
    ...checked.refuted.map(({ message }) => ({ code: 'evidence-refuted', message })),
    ...unauthorized.map(({ kind, target }) => ({
      code: 'side-effect-unauthorized',
      message: `The policy does not allow ${kind}${target === undefined ? '' : ` of ${target}`}.`,
    })),
  ];
}

/** An agent that ends without a result has succeeded by the work in its worktree or not at all. */
function resultShortfalls({ harness }: TerminalClaim): Downgrade[] {
  const hasWorked = (harness.commits ?? []).length > 0 || (harness.changedFiles ?? []).length > 0;
  if (harness.unreported !== true || hasWorked) return [];
  const message = 'The agent exited without a result, and its worktree shows no work.';
  return [{ code: 'result-missing', message }];
}

function commitShortfalls(
  envelope: RecordedTaskEnvelope | undefined,
  { harness }: TerminalClaim,
  sideEffects: SideEffect[],
): Downgrade[] {
  const commits = harness.commits?.length ?? 0;
  if (envelope?.commitPolicy === 'required' && envelope.workspace && commits === 0) {
    return [{ code: 'commit-missing', message: 'The commit policy requires a commit; none was made.' }];
  }
  if (!sideEffects.some(({ kind, authorized }) => kind === 'git-commit' && !authorized)) return [];
  const message = `Commits are not allowed; ${commits} were made.`;
  return [{ code: 'commit-policy-violated', message }];
}

/** What the end of a run makes of its task (specification 2, States). */
export function taskStatusAfter(status: CompletionStatus): TaskStatus {
  if (status === 'success') return 'done';
  return status === 'blocked' ? 'blocked' : 'in-progress';
}
