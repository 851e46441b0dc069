import type { WatcherQuestion } from '../../../contracts/governance/watcher-policy';
import type { FailureClass } from '../../../contracts/runs/recovery';
import { conflict } from '../../../platform/errors/app-error';
import { continuationsIn } from '../../../stores/runs/admission/tree-store';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { WorkflowContext } from '../../context';
import { auditOf, decideAndTrace } from '../../governance/watcher-policies/trace';

/**
 * Lets a run continue without a person, or refuses it. The decision is based on the stores alone.
 *
 * @throws AppError 409 `CONTINUATION_BLOCKED`, `CONTINUATION_NEEDS_APPROVAL`, both with the decision
 */
export async function requireContinuation(
  context: WorkflowContext,
  source: AttemptRecord,
  { message: prompt, actor }: { message: string; actor: string },
): Promise<void> {
  const { watcher } = (await context.settings.read()).features;
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
  if (decision === 'allow') {
    return;
  }
  if (decision === 'blocked') {
    throw conflict(reasons.join(' '), { ...decided }, 'CONTINUATION_BLOCKED');
  }
  throw conflict(
    `${reasons.join(' ')} After a review an operator can send the message as a follow-up.`,
    { ...decided },
    'CONTINUATION_NEEDS_APPROVAL',
  );
}

/** How often watchers have continued in the execution tree of the run: with this attempt, one before it or one beside it. */
async function continuationsOf({ admissionRequests, trees }: WorkflowContext, { _id }: AttemptRecord): Promise<number> {
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
async function providerErrorsOf({ attempts, recoveries }: WorkflowContext, source: AttemptRecord): Promise<number> {
  let errors = 0;
  for (let at: AttemptRecord | undefined = source; at;) {
    const recovery = await recoveries.get(at._id);
    if (recovery && ofProvider.has(recovery.failureClass)) {
      errors += 1;
    }
    const { retryNumber, parentAttemptId }: AttemptRecord = at;
    at = retryNumber > 0 && parentAttemptId !== undefined ? await attempts.get(parentAttemptId) : undefined;
  }
  return errors;
}
