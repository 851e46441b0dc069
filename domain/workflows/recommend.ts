import type { LaunchRecommendation } from '../../contracts/runs/workflows/recommendation';

/** How a run of a workflow has ended. */
export interface Outcome {
  succeeded: boolean;
  startedAt?: string;
  endedAt: string;
  taskType?: string;
}

/** What is known of one workflow. */
export interface Evidence {
  workflowId: string;
  name: string;
  version: number;
  /** The newest first. */
  outcomes: readonly Outcome[];
}

/** Of the normal distribution, for 95 %. */
const z = 1.96;

/** The least share of successes that so many samples speak for, with 95 % certainty (Wilson score interval). */
export function leastRate(successes: number, samples: number): number {
  if (samples === 0) {
    return 0;
  }
  const rate = successes / samples;
  const middle = rate + z ** 2 / (2 * samples);
  const margin = z * Math.sqrt((rate * (1 - rate)) / samples + z ** 2 / (4 * samples ** 2));
  return Math.max(0, (middle - margin) / (1 + z ** 2 / samples));
}

/**
 * Workflows by what their runs speak for: those with the highest rate of success that is certain come first.
 *
 * @param taskType only runs for tasks of the type count; all when absent
 */
export function recommend(
  evidence: readonly Evidence[],
  { taskType, minSamples }: { taskType?: string | undefined; minSamples: number },
): LaunchRecommendation[] {
  return evidence
    .map(({ workflowId, name, version, outcomes }) => {
      const counted = outcomes.filter((outcome) => taskType === undefined || outcome.taskType === taskType);
      const samples = counted.length;
      const successes = counted.filter(({ succeeded }) => succeeded).length;
      return {
        ...{ workflowId, name, version, samples, successes },
        successRate: samples === 0 ? 0 : rounded(successes / samples),
        score: rounded(leastRate(successes, samples)),
        medianDurationMs: medianOf(counted),
        lastEndedAt: counted[0]?.endedAt ?? null,
      };
    })
    .filter(({ samples, successes }) => samples >= minSamples && successes > 0)
    .sort((a, b) => b.score - a.score || b.samples - a.samples || (a.workflowId < b.workflowId ? -1 : 1));
}

const rounded = (rate: number): number => Math.round(rate * 1_000) / 1_000;

function medianOf(outcomes: readonly Outcome[]): number | null {
  const durations = outcomes
    .filter(({ succeeded }) => succeeded)
    .flatMap(({ startedAt, endedAt }) => (startedAt === undefined ? [] : [Date.parse(endedAt) - Date.parse(startedAt)]))
    .sort((a, b) => a - b);
  return durations[Math.floor((durations.length - 1) / 2)] ?? null;
}
