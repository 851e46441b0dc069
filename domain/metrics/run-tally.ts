import { type DurationMetrics, maxListedAgents, type RunCounts, type RunMetrics } from '../../contracts/system/metrics';
import type { TelemetryEvent } from '../../contracts/system/telemetry';
import { Groups } from './groups';
import { Quantiles } from './quantiles';

/** Durations of one agent that are remembered as they are. */
const exactByAgent = 1_000;

class Counts {
  successes = 0;
  failures = 0;
  errors = 0;

  constructor(readonly durations: Quantiles) {}

  get runs(): number {
    return this.successes + this.failures;
  }

  add({ type, success, durationMs }: TelemetryEvent): void {
    if (type === 'run.error') {
      this.errors += 1;
      return;
    }
    if (success) {
      this.successes += 1;
    } else {
      this.failures += 1;
    }
    if (durationMs !== undefined) {
      this.durations.add(durationMs);
    }
  }

  shown(): RunCounts {
    const { runs, successes, failures, errors } = this;
    const rate = (part: number) => (runs === 0 ? 0 : part / runs);
    return { runs, successes, failures, errors, successRate: rate(successes), errorRate: rate(failures) };
  }
}

/** Rounded to the millisecond: more digits would pretend to be known. */
const durationsOf = (durations: Quantiles) => ({
  runs: durations.count,
  avgMs: Math.round(durations.mean),
  p50Ms: Math.round(durations.at(0.5)),
  p95Ms: Math.round(durations.at(0.95)),
  maxMs: durations.max,
});

/** Adds up how runs have ended, from their `run.completed` and `run.error` events. */
export class RunTally {
  private readonly all = new Counts(new Quantiles());
  private readonly agents = new Groups(() => new Counts(new Quantiles(exactByAgent)), maxListedAgents);

  add(event: TelemetryEvent): void {
    this.all.add(event);
    if (event.agent !== undefined) {
      this.agents.of(event.agent)?.add(event);
    }
  }

  /** The sums of one agent; `undefined` when it has none. */
  ofAgent(agent: string): { counts: RunCounts; durations: Quantiles } | undefined {
    const counts = this.agents.get(agent);
    return counts && { counts: counts.shown(), durations: counts.durations };
  }

  /** The agents with runs. */
  get names(): string[] {
    return this.sorted().map(([agent]) => agent);
  }

  get otherAgents(): number {
    return this.agents.omitted;
  }

  runs(): Omit<RunMetrics, 'period' | 'coverage'> {
    const byAgent = this.agents.sorted(({ runs }) => runs).map(([agent, counts]) => ({ agent, ...counts.shown() }));
    return { ...this.all.shown(), byAgent, otherAgents: this.agents.omitted };
  }

  durations(): Omit<DurationMetrics, 'period' | 'coverage'> {
    const agents = this.sorted().filter(([, { durations }]) => durations.count > 0);
    const isExact = this.all.durations.isExact && agents.every(([, { durations }]) => durations.isExact);
    return {
      ...durationsOf(this.all.durations),
      byAgent: agents.map(([agent, { durations }]) => ({ agent, ...durationsOf(durations) })),
      otherAgents: this.agents.omitted,
      percentiles: isExact ? 'exact' : 'estimated',
    };
  }

  private sorted() {
    return this.agents.sorted(({ runs }) => runs).filter(([, { runs }]) => runs > 0);
  }
}
