import { asyncLocalStorage, metricMeter } from '@temporalio/activity';
import type { CompletionResult } from '../../../contracts/runs/completion';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';

/**
 * Counts the end of a run in the worker's metrics, with its outcome and how long its agent ran. An end that is recorded again
 * after a crash is counted again: what is exact is in the telemetry.
 */
export function countEnd({ agent, startedAt }: AttemptRecord, { status, completedAt }: CompletionResult): void {
  // Outside of a worker nothing collects metrics.
  if (!asyncLocalStorage.getStore()) {
    return;
  }
  const tags = { agent, outcome: status };
  metricMeter
    .createCounter('runboard_runs_ended', undefined, 'Runs that have ended, by agent and outcome')
    .add(1, tags);
  if (startedAt !== undefined) {
    const seconds = Math.max(0, Date.parse(completedAt) - Date.parse(startedAt)) / 1_000;
    metricMeter
      .createHistogram('runboard_run_duration_seconds', 'float', undefined, 'How long agents ran')
      .record(seconds, tags);
  }
}
