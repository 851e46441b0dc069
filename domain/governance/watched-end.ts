import type { CompletionResult } from '../../contracts/runs/completion';
import type { WatcherSettings } from '../../contracts/settings/settings';
import { textDigest } from '../../platform/json/digest';

/** Ends that leave something to go on with. */
const unfinished: ReadonlySet<CompletionResult['status']> = new Set(['partial', 'interrupted', 'failed']);

/**
 * Whether the watcher continues a run that has ended like this: where its settings say so, something is left to do, there is a session
 * to continue, and no person has stopped it.
 */
export const isContinuedByWatcher = (
  { enabled, globalKillSwitch, continueRuns }: Pick<WatcherSettings, 'enabled' | 'globalKillSwitch' | 'continueRuns'>,
  { status, terminalSource, claims }: Pick<CompletionResult, 'status' | 'terminalSource' | 'claims'>,
): boolean =>
  enabled &&
  !globalKillSwitch &&
  continueRuns &&
  unfinished.has(status) &&
  terminalSource !== 'operator-interruption' &&
  claims.continuation !== undefined;

/** The run that continues another one: the same however often it is planned. */
export const continuationAttemptId = (sourceAttemptId: string): string =>
  `attempt_${textDigest(`continuation\n${sourceAttemptId}`).slice(-12)}`;

/** What begins the next turn of the session. It quotes nothing of the run: the agent has its own words in its session. */
export const runContinuationMessage = (status: string): string =>
  `The run ended as ${status}, without completing the task. Continue where it ended, and report the result.`;
