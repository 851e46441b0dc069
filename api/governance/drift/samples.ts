import type { DriftMetric } from '../../../contracts/governance/drift';
import type { TelemetryEvent } from '../../../contracts/system/telemetry';

/** One value of a metric, and when it was measured. */
export interface Sample {
  value: number;
  at: string;
}

/** An agent's telemetry, the newest first. */
export interface RunEvents {
  started: readonly TelemetryEvent[];
  completed: readonly TelemetryEvent[];
  tokens: readonly TelemetryEvent[];
}

const dayMs = 86_400_000;
const dayOf = (timestamp: string): number => Math.floor(Date.parse(timestamp) / dayMs);

/** Runs begun per whole day (UTC): today is not over, and the first day may have begun before the recorded runs. */
function perDay(started: readonly TelemetryEvent[], now: Date): Sample[] {
  const days = started.map(({ timestamp }) => dayOf(timestamp));
  const first = Math.min(...days);
  const counts = new Map<number, number>();
  for (const day of days) {
    counts.set(day, (counts.get(day) ?? 0) + 1);
  }
  const samples: Sample[] = [];
  for (let day = dayOf(now.toISOString()) - 1; day > first; day -= 1) {
    samples.push({ value: counts.get(day) ?? 0, at: new Date(day * dayMs).toISOString() });
  }
  return samples;
}

/** What the reports of one attempt add up to; a report without an attempt stands for itself. */
function perAttempt(tokens: readonly TelemetryEvent[], amount: (event: TelemetryEvent) => number): Sample[] {
  const sums = new Map<string, Sample>();
  for (const event of tokens) {
    const key = event.attemptId ?? event.id;
    const sum = sums.get(key) ?? { value: 0, at: event.timestamp };
    sums.set(key, { ...sum, value: sum.value + amount(event) });
  }
  return [...sums.values()];
}

/** The samples of a metric, the newest first. */
export function samplesOf(metric: DriftMetric, { started, completed, tokens }: RunEvents, now: Date): Sample[] {
  switch (metric) {
    case 'action_frequency':
      return perDay(started, now);
    case 'duration':
      return completed.map(({ durationMs, timestamp }) => ({ value: durationMs ?? 0, at: timestamp }));
    case 'success_rate':
      return completed.map(({ success, timestamp }) => ({ value: success === true ? 1 : 0, at: timestamp }));
    case 'cost':
      return perAttempt(tokens, ({ cost = 0 }) => cost);
    case 'token_usage':
      return perAttempt(tokens, ({ inputTokens = 0, outputTokens = 0 }) => inputTokens + outputTokens);
  }
}
