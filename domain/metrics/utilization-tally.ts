import type { Period } from '../../contracts/period';
import { maxListedAgents, type UtilizationMetrics } from '../../contracts/system/metrics';
import { maxDurationMs, type TelemetryEvent } from '../../contracts/system/telemetry';
import { type Bucket, bucketsOf } from '../periods/buckets';
import { Groups } from './groups';

interface Sums {
  activeMs: number;
  runs: number;
}

const noRuns = (): Sums => ({ activeMs: 0, runs: 0 });

/** How much of the time between two moments is within bounds. */
const overlap = (begin: number, end: number, { from, to }: Pick<Bucket, 'from' | 'to'>): number =>
  Math.max(0, Math.min(end, to) - Math.max(begin, from));

/** A run that ends this long after a period may have begun in it. */
export const longestRunMs = maxDurationMs;

/** Adds up how long runs were active within a period, from their `run.completed` events. */
export class UtilizationTally {
  private readonly all = noRuns();
  private readonly agents = new Groups(noRuns, maxListedAgents);
  private readonly parts: (Bucket & { activeMs: number })[];
  private readonly bounds: { from: number; to: number };

  /** @param begin when a period begins that has no beginning */
  constructor(period: Period, begin: number) {
    this.parts = bucketsOf(period, begin).buckets.map((bucket) => ({ ...bucket, activeMs: 0 }));
    const to = Date.parse(period.to);
    this.bounds = { from: this.parts[0]?.from ?? to, to };
  }

  add({ timestamp, durationMs = 0, agent }: TelemetryEvent): void {
    const end = Date.parse(timestamp);
    const begin = end - durationMs;
    const activeMs = overlap(begin, end, this.bounds);
    const endsWithin = end >= this.bounds.from && end < this.bounds.to;
    if (activeMs === 0 && !endsWithin) {
      return;
    }
    for (const sums of [this.all, agent === undefined ? undefined : this.agents.of(agent)]) {
      if (sums) {
        sums.activeMs += activeMs;
        sums.runs += 1;
      }
    }
    for (const part of this.parts) {
      part.activeMs += overlap(begin, end, part);
    }
  }

  utilization(): Omit<UtilizationMetrics, 'period' | 'coverage'> {
    const periodMs = this.bounds.to - this.bounds.from;
    const shown = ({ activeMs, runs }: Sums) => ({ activeMs, utilization: activeMs / periodMs, runs });
    return {
      periodMs,
      ...shown(this.all),
      byAgent: this.agents.sorted(({ activeMs }) => activeMs).map(([agent, sums]) => ({ agent, ...shown(sums) })),
      otherAgents: this.agents.omitted,
      parts: this.parts.map(({ label, from, to, activeMs }) => ({
        label,
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
        activeMs,
        utilization: activeMs / (to - from),
      })),
    };
  }
}
