import { conflict } from '../../platform/errors/app-error';
import type { AttemptRecord } from '../../stores/attempt-store';
import { continuationsIn } from '../../stores/tree-store';
import type { FailureClass } from '../../contracts/recovery';
import type { WatcherQuestion } from '../../contracts/watcher-policy';
import { auditOf, decideAndTrace } from '../watcher-policies/trace';
import type { RunsContext } from './context';

/**
 * Lets a run go on without a person, or refuses it. What is decided on is read from the stores; nobody's word counts.
 *
 * @throws AppError 409 `CONTINUATION_BLOCKED`, `CONTINUATION_NEEDS_APPROVAL`, both with the decision
 */
export async function requireContinuation(
  context: RunsContext,
  source: AttemptRecord,
  { message: prompt, actor }: { message: string; actor: string },
): Promise<void> {
  const { watcher } = (await context.featureSettings.read()).features;
  const question: WatcherQuestion = {
    runId: source._id,
    taskId: source.taskId,
    agent: source.agent,
    prompt,
    continuationCount: await continuationsOf(context, source),
    monthlySpendUsd: await context.telemetry.costSince(startOfMonth(new Date())),
    hasRecentTestFailures: hasTestFailures(source),
    recentProviderErrors: await providerErrorsOf(context, source),
  };
  const decided = await decideAndTrace(context.traces, watcher, question);
  await context.audit.record({ ...auditOf(question, decided), actor });
  const { decision, reasons } = decided;
  if (decision === 'allow') return;
  if (decision === 'blocked') throw conflict(reasons.join(' '), { ...decided }, 'CONTINUATION_BLOCKED');
  throw conflict(
    `${reasons.join(' ')} Somebody who has looked at it may send the message as a follow-up.`,
    { ...decided },
    'CONTINUATION_NEEDS_APPROVAL',
  );
}

/** How often watchers have gone on in the execution tree of the run: with this attempt, one before it or one beside it. */
async function continuationsOf({ admissionRequests, trees }: RunsContext, { _id }: AttemptRecord): Promise<number> {
  const request = await admissionRequests.get(_id);
  return request ? continuationsIn(await trees.get(request.rootObjectiveId)) : 0;
}

/** Of the calendar month, UTC. */
const startOfMonth = (now: Date): string => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString();

const hasTestFailures = ({ completion }: AttemptRecord): boolean =>
  completion?.claims.verification?.some(({ status }) => status === 'failed') === true ||
  completion?.downgrades.some(({ code }) => code.includes('verification')) === true;

/** Failures that are the provider's and not the task's. */
const ofProvider: ReadonlySet<FailureClass> = new Set([
  'transient-transport',
  'provider-unavailable',
  'rate-limit',
  'timeout',
]);

/** How many attempts failed by their provider, of this one and those it was the retry of. */
async function providerErrorsOf({ attempts, recoveries }: RunsContext, source: AttemptRecord): Promise<number> {
  let errors = 0;
  for (let at: AttemptRecord | undefined = source; at;) {
    const recovery = await recoveries.get(at._id);
    if (recovery && ofProvider.has(recovery.failureClass)) errors += 1;
    const { retryNumber, parentAttemptId }: AttemptRecord = at;
    at = retryNumber > 0 && parentAttemptId !== undefined ? await attempts.get(parentAttemptId) : undefined;
  }
  return errors;
}
