import type { CompletionResult, CompletionStatus, SideEffect } from '../../contracts/runs/completion';
import type { RecordedTaskEnvelope } from '../../contracts/runs/launch/contract';
import type { TaskStatus } from '../../contracts/tasks/task';
import { withDigest } from '../../platform/json/digest';
import { claimDigest, type TerminalClaim } from './claim';
import { checkClaims, type CheckedClaims } from './evidence';
import { missingOutputs } from './outputs';
import type { Judgement } from './retained-work';
import { type JudgedEffect, sideEffectsOf, type Violation } from './side-effects';
import { type Unreported, unreportedEntry, unreportedSteps } from './verification';

type Downgrade = CompletionResult['downgrades'][number];

export interface CompletionInput {
  envelope: RecordedTaskEnvelope | undefined;
  claim: TerminalClaim;
  completedAt: string;
  judgement?: Judgement;
}

/**
 * The completion result of an attempt. A claimed success whose evidence does not hold becomes `partial`, with a reason
 * for each shortfall (specification 2, States: "claimed success").
 */
export function compileCompletion(
  attemptId: string,
  { envelope, claim, completedAt, judgement }: CompletionInput,
): CompletionResult {
  const checked = checkClaims(claim);
  const judged = sideEffectsOf(envelope, claim.harness, { checked, judgement });
  const sideEffects = judged.map(({ violation: _violation, ...effect }): SideEffect => effect);
  const unreported = unreportedSteps(envelope, claim);
  const downgrades =
    claim.status === 'success' ? shortfalls(envelope, claim, { checked, sideEffects: judged, ...unreported }) : [];
  return withDigest({
    schemaVersion: 'completion-result/v1' as const,
    attemptId,
    idempotencyKey: claimDigest(claim),
    completedAt,
    terminalSource: claim.terminalSource,
    status: downgrades.length > 0 ? ('partial' as const) : claim.status,
    ...(downgrades.length > 0 && claim.harness.unreported !== true ? { claimedStatus: claim.status } : {}),
    downgrades,
    ...verificationOf(claim, unreported),
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
    ...phaseOf(envelope, judgement),
  });
}

/** Without a record of its phase, what the envelope states. */
function phaseOf(
  envelope: RecordedTaskEnvelope | undefined,
  judgement: Judgement | undefined,
): Pick<CompletionResult, 'phase'> {
  if (judgement) {
    return { phase: judgement.phase };
  }
  if (!envelope) {
    return {};
  }
  return { phase: { phase: envelope.phase, evidence: envelope.policy?.authority ? 'profile' : 'legacy' } };
}

/** What of its verification a run did not report; nothing of one that never came to its end by itself. */
function verificationOf(
  { status }: TerminalClaim,
  { required, others }: Unreported,
): Pick<CompletionResult, 'findings' | 'unverified'> {
  const findings = unreportedEntry(others, 'optional');
  if (status !== 'success') {
    return {};
  }
  return {
    ...(findings.length > 0 ? { findings } : {}),
    ...(required.length > 0
      ? { unverified: required.map(({ id, description }) => ({ gateId: id, description })) }
      : {}),
  };
}

function shortfalls(
  envelope: RecordedTaskEnvelope | undefined,
  claim: TerminalClaim,
  { checked, sideEffects, required }: { checked: CheckedClaims; sideEffects: JudgedEffect[] } & Unreported,
): Downgrade[] {
  return [
    ...(claim.harness.workLost === undefined ? [] : [{ code: 'work-lost', message: claim.harness.workLost }]),
    ...resultShortfalls(envelope, claim),
    ...commitShortfalls(envelope, claim, sideEffects),
    ...branchShortfalls(envelope, claim),
    ...(claim.claims.verification ?? [])
      .filter(({ status }) => status === 'failed')
      .map(({ gateId }) => ({ code: 'verification-failed', message: `Verification ${gateId} failed.` })),
    ...unreportedEntry(required, 'although required'),
    ...missingOutputs(envelope, claim, checked).map(({ id, kind }) => ({
      code: 'output-missing',
      message: `The required output ${id} (${kind}) is missing.`,
    })),
    ...checked.refuted.map(({ message }) => ({ code: 'evidence-refuted', message })),
    ...sideEffects.filter(({ kind }) => kind !== 'git-commit').flatMap(unauthorized),
  ];
}

/**
 * An agent that ends without a result has succeeded by the work in its worktree or not at all, and so has one that reports nothing
 * about a task of code; unless the policy of the task expects neither.
 */
function resultShortfalls(envelope: RecordedTaskEnvelope | undefined, claim: TerminalClaim): Downgrade[] {
  const { harness } = claim;
  const hasWorked = [harness.commits, harness.changedFiles].some((work = []) => work.length > 0) || harness.committed;
  if (hasWorked || envelope?.allowEmptyResult === true) {
    return [];
  }
  if (harness.unreported === true) {
    const message = 'The agent exited without a result, and its worktree shows no work.';
    return [{ code: 'result-missing', message }];
  }
  // What an agent elsewhere has worked on is not known.
  const isSeen = harness.changedFiles !== undefined;
  if (!isSeen || envelope?.context?.type !== 'code' || !isSilent(claim)) {
    return [];
  }
  const message = 'The agent reported success without a word, and its worktree shows no work.';
  return [{ code: 'result-empty', message }];
}

/** Whether a claim states nothing: no summary of the agent's own, and nothing else that it claims. */
function isSilent({ harness, summary, claims: { continuation: _continuation, ...claims } }: TerminalClaim): boolean {
  const claimsNothing = Object.values(claims).every((claimed) => claimed.length === 0);
  return claimsNothing && (harness.silent === true || summary.trim() === '');
}

const rules: Record<Violation, string> = {
  'phase-violated': 'The phase of the run',
  'sandbox-violated': 'The sandbox preset',
  'side-effect-unauthorized': 'The policy',
  'commit-policy-violated': 'The commit policy',
};

const unauthorized = ({ kind, target, violation }: JudgedEffect): Downgrade[] =>
  violation === undefined
    ? []
    : [
        {
          code: violation,
          message: `${rules[violation]} does not allow ${kind}${target === undefined ? '' : ` of ${target}`}.`,
        },
      ];

function commitShortfalls(
  envelope: RecordedTaskEnvelope | undefined,
  { harness }: TerminalClaim,
  sideEffects: JudgedEffect[],
): Downgrade[] {
  const commits = harness.commits?.length ?? 0;
  const isMissing = commits === 0 && harness.committed === undefined;
  if (envelope?.commitPolicy === 'required' && envelope.workspace && isMissing) {
    return [{ code: 'commit-missing', message: 'The commit policy requires a commit; none was made.' }];
  }
  return sideEffects.flatMap(({ kind, violation, description }): Downgrade[] => {
    if (kind !== 'git-commit' || violation === undefined) {
      return [];
    }
    const byPhase = violation === 'phase-violated';
    const message = byPhase
      ? `The phase allows no commits: ${description}.`
      : `Commits are not allowed; ${commits} were made.`;
    return [{ code: violation, message }];
  });
}

/** What is committed elsewhere than on the branch of the task is no result: it is neither merged nor found by the next run. */
function branchShortfalls(envelope: RecordedTaskEnvelope | undefined, { harness }: TerminalClaim): Downgrade[] {
  const expected = envelope?.workspace?.branch;
  if (expected === undefined || harness.branch === undefined || harness.branch === expected) {
    return [];
  }
  const message = `The worktree was left on ${harness.branch ?? 'a detached HEAD'}, not on ${expected}.`;
  return [{ code: 'branch-changed', message }];
}

/** What the end of a run makes of its task (specification 2, States). */
export function taskStatusAfter(status: CompletionStatus): TaskStatus {
  if (status === 'success') {
    return 'done';
  }
  return status === 'blocked' ? 'blocked' : 'in-progress';
}
