import type { WatcherQuestion } from '../../../contracts/governance/watcher-policy';
import type { FailureClass } from '../../../contracts/runs/recovery';
import type { AskedContinuation } from '../../../domain/governance/watcher-policy';
import type { SettingsStore } from '../../settings/settings-store';
import type { TelemetryStore } from '../../system/telemetry-store';
import type { AdmissionRequestStore } from '../admission/admission-request-store';
import { continuationsIn, type TreeStore } from '../admission/tree-store';
import type { AttemptRecord, AttemptStore } from '../attempt-store';
import type { RecoveryStore } from '../recovery-store';

/** What the policy is asked by. */
export interface WatcherQuestionSources {
  settings: Pick<SettingsStore, 'read'>;
  telemetry: Pick<TelemetryStore, 'costSince'>;
  admissionRequests: Pick<AdmissionRequestStore, 'get'>;
  trees: Pick<TreeStore, 'get'>;
  attempts: Pick<AttemptStore, 'get'>;
  recoveries: Pick<RecoveryStore, 'get'>;
}

/** What the watcher policy is asked about a run that is to continue without a person: by the stores, and nothing of the caller. */
export async function askedContinuation(
  sources: WatcherQuestionSources,
  source: AttemptRecord,
  prompt: string,
): Promise<AskedContinuation> {
  const { watcher } = (await sources.settings.read()).features;
  const question: WatcherQuestion = {
    runId: source._id,
    taskId: source.taskId,
    agent: source.agent,
    prompt,
    continuationCount: await continuationsOf(sources, source),
    monthlySpendUsd: await sources.telemetry.costSince(startOfMonth(new Date())),
    hasRecentTestFailures: hasTestFailures(source),
    recentProviderErrors: await providerErrorsOf(sources, source),
  };
  return { settings: watcher, question };
}

/** How often watchers have continued in the execution tree of the run: with this attempt, one before it or one beside it. */
async function continuationsOf(
  { admissionRequests, trees }: WatcherQuestionSources,
  { _id }: AttemptRecord,
): Promise<number> {
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
async function providerErrorsOf(
  { attempts, recoveries }: WatcherQuestionSources,
  source: AttemptRecord,
): Promise<number> {
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
