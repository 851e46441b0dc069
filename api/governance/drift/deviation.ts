import type { DriftAlert } from '../../../contracts/governance/drift';
import type { Sample } from './samples';

/** How many of the newest samples are now; those before them are the baseline. */
export const currentSamples = 5;
/** With fewer earlier samples than this there is no baseline. */
export const fewestBefore = 10;

/** Spread that is always there, as a part of the mean: values that never differed are not alarming when they first do. */
const leastSpread = 0.05;

export interface Compared {
  baseline: { mean: number; standardDeviation: number; sampleSize: number };
  current: { mean: number; sampleSize: number };
  /** z-score of the mean of the newest samples: in standard errors, above 0 for more than usual. Absent: too few samples. */
  deviation?: number;
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** Of a sample, with n - 1. */
function standardDeviation(values: readonly number[]): number {
  if (values.length < 2) {
    return 0;
  }
  const middle = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1));
}

/**
 * Compares the newest samples with those before them.
 *
 * @param samples the newest first
 */
export function compare(samples: readonly Sample[]): Compared {
  const values = samples.map(({ value }) => value);
  const now = values.slice(0, currentSamples);
  const before = values.slice(currentSamples);
  const baseline = { mean: mean(before), standardDeviation: standardDeviation(before), sampleSize: before.length };
  const current = { mean: mean(now), sampleSize: now.length };
  if (before.length < fewestBefore) {
    return { baseline, current };
  }
  const difference = current.mean - baseline.mean;
  if (difference === 0) {
    return { baseline, current, deviation: 0 };
  }
  const spread = Math.max(baseline.standardDeviation, leastSpread * Math.abs(baseline.mean), 1e-9);
  return { baseline, current, deviation: difference / (spread / Math.sqrt(now.length)) };
}

/** From which deviation on, either way. */
const thresholds = [
  { severity: 'critical', threshold: 4 },
  { severity: 'warning', threshold: 3 },
  { severity: 'info', threshold: 2.5 },
] as const;

/** How bad a deviation is; `undefined` for what happens by chance. */
export const alarming = (deviation: number): Pick<DriftAlert, 'severity' | 'threshold'> | undefined =>
  thresholds.find(({ threshold }) => Math.abs(deviation) >= threshold);
