import type { CompletionResult } from '../../contracts/runs/completion';
import type { FailureClass } from '../../contracts/runs/recovery';
import { cut } from '../../platform/text/cut';

/** What agents call the reasons of their failures, most specific first. Codes are short; their texts are not believed. */
const blockerCodes: readonly [RegExp, FailureClass][] = [
  // Of the protocol of an agent: a person has to log in, or to choose another value.
  [
    /^(?:authentication-required|authentication-failed|model-not-offered|mode-not-offered|option-refused)$/,
    'invalid-request',
  ],
  [/rate.?limit|too.?many.?requests|quota|\b429\b/i, 'rate-limit'],
  [/unavailable|overloaded|circuit|\b50[23]\b/i, 'provider-unavailable'],
  [/time.?out|deadline/i, 'timeout'],
  [/invalid|bad.?request|unsupported|\b400\b/i, 'invalid-request'],
  [/policy|permission|forbidden|denied|unauthorized/i, 'policy-block'],
  [/network|connection|transport|econn|socket/i, 'transient-transport'],
];

/** The cause of a downgrade of a claimed success. */
const downgradeCodes: readonly [RegExp, FailureClass][] = [
  [/policy|unauthorized|side-effect|phase-violated|sandbox-violated/i, 'policy-block'],
  [/verification/i, 'verification-failure'],
];

const retryable: ReadonlySet<FailureClass> = new Set([
  'transient-transport',
  'provider-unavailable',
  'rate-limit',
  'timeout',
  'verification-failure',
]);

/** Classes that another try may not meet again. */
export const isRetryable = (failure: FailureClass): boolean => retryable.has(failure);

const operators: ReadonlySet<FailureClass> = new Set(['policy-block', 'invalid-request', 'partial-side-effect']);

/** Classes that a person has to review before anything continues. */
export const needsOperator = (failure: FailureClass): boolean => operators.has(failure);

const firstMatch = (codes: readonly string[], table: readonly [RegExp, FailureClass][]): FailureClass | undefined =>
  table.find(([pattern]) => codes.some((code) => pattern.test(code)))?.[1];

/** The side effects of the attempt that remain, as sentences for a person; none when its host restored the worktree. */
export function remainingSideEffects({ harness, sideEffects }: CompletionResult): string[] {
  if (harness.ended === 'lost') {
    return [];
  }
  const changed = harness.changedFiles?.length ?? 0;
  const commits = harness.commits?.length ?? 0;
  return [
    ...(changed > 0 ? [`${changed} files changed`] : []),
    ...(commits > 0 ? [`${commits} commits`] : []),
    ...sideEffects.filter(({ kind }) => !inWorktree.has(kind)).map(({ description }) => cut(description, 200)),
  ];
}

/** Kinds that the counts of files and commits cover already. */
const inWorktree: ReadonlySet<string> = new Set(['filesystem-write', 'git-commit']);

/**
 * The class of a failure, from what the harness saw and the agent's codes. `undefined` for what is no failure: a success, a
 * task that waits for people, and a requested stop.
 */
export function classifyFailure(completion: CompletionResult): FailureClass | undefined {
  const cause = causeOf(completion);
  // Trying again on top of half an attempt would do its work twice.
  if (cause && isRetryable(cause) && remainingSideEffects(completion).length > 0) {
    return 'partial-side-effect';
  }
  return cause;
}

function causeOf({ status, claims, downgrades, harness, terminalSource }: CompletionResult): FailureClass | undefined {
  if (status === 'success' || status === 'blocked') {
    return undefined;
  }
  if (terminalSource === 'operator-interruption') {
    return undefined;
  }
  switch (harness.ended) {
    case 'lost':
      return 'transient-transport';
    case 'timeout':
      return 'timeout';
    case 'spawn-failed':
      return 'provider-unavailable';
    default:
  }
  const blockers = (claims.blockers ?? []).map(({ code }) => code);
  const failure =
    firstMatch(blockers, blockerCodes) ??
    firstMatch(
      downgrades.map(({ code }) => code),
      downgradeCodes,
    );
  if (failure) {
    return failure;
  }
  if (claims.verification?.some((gate) => gate.status === 'failed')) {
    return 'verification-failure';
  }
  return status === 'interrupted' ? 'unknown' : 'task-failure';
}
