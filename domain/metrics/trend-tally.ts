import type { Period } from '../../contracts/period';
import type { TrendMetrics } from '../../contracts/system/metrics';
import type { TelemetryEvent } from '../../contracts/system/telemetry';
import type { Task } from '../../contracts/tasks/task';
import { type Bucket, bucketAt, bucketsOf, type BucketUnit } from '../periods/buckets';
import { completionOf } from './task-counts';
import { totalOf } from './token-tally';

type Part = TrendMetrics['parts'][number];
type Sums = Pick<Bucket, 'from' | 'to'> & { shown: Part; durationMs: number; timed: number };

const shownBucket = ({ label, from, to }: Bucket) => ({
  label,
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
});

const startOf = (bucket: Bucket): Sums => ({
  from: bucket.from,
  to: bucket.to,
  shown: {
    ...shownBucket(bucket),
    ...{ runs: 0, successes: 0, failures: 0, totalTokens: 0, cost: 0, avgDurationMs: 0, tasksCreated: 0 },
    tasksCompleted: 0,
  },
  durationMs: 0,
  timed: 0,
});

/** Adds up runs, tokens and tasks by the parts of a period. */
export class TrendTally {
  private readonly unit: BucketUnit;
  private readonly parts: Sums[];

  /** @param begin when a period begins that has no beginning */
  constructor(period: Period, begin: number) {
    const { unit, buckets } = bucketsOf(period, begin);
    this.unit = unit;
    this.parts = buckets.map(startOf);
  }

  add(event: TelemetryEvent): void {
    const part = this.at(event.timestamp);
    if (!part) {
      return;
    }
    if (event.type === 'run.tokens') {
      part.shown.totalTokens += totalOf(event);
      part.shown.cost += event.cost ?? 0;
      return;
    }
    part.shown.runs += 1;
    part.shown[event.success ? 'successes' : 'failures'] += 1;
    if (event.durationMs !== undefined) {
      part.durationMs += event.durationMs;
      part.timed += 1;
    }
  }

  addTask(task: Task): void {
    const created = this.at(task.createdAt);
    if (created) {
      created.shown.tasksCreated += 1;
    }
    const completed = this.at(completionOf(task));
    if (completed) {
      completed.shown.tasksCompleted += 1;
    }
  }

  trends(): Pick<TrendMetrics, 'unit' | 'parts'> {
    const parts = this.parts.map(({ shown, durationMs, timed }) => ({
      ...shown,
      cost: Math.round(shown.cost * 1e9) / 1e9,
      avgDurationMs: timed === 0 ? 0 : Math.round(durationMs / timed),
    }));
    return { unit: this.unit, parts };
  }

  private at(time: string | undefined): Sums | undefined {
    return time === undefined ? undefined : bucketAt(this.parts, Date.parse(time));
  }
}
