import { maxListedAgents, type TokenMetrics, type TokenSums } from '../../contracts/system/metrics';
import type { TelemetryEvent } from '../../contracts/system/telemetry';
import { Groups } from './groups';

const maxListedModels = 100;

/** Sums of decimal fractions: what is below a billionth is noise. */
const withoutNoise = (sum: number): number => Math.round(sum * 1e9) / 1e9;

/** What a report of tokens adds up to. */
export const totalOf = ({ totalTokens, inputTokens = 0, outputTokens = 0 }: TelemetryEvent): number =>
  totalTokens ?? inputTokens + outputTokens;

const noTokens = (): TokenSums => ({ inputTokens: 0, outputTokens: 0, cacheTokens: 0, totalTokens: 0, cost: 0 });

/** Adds a report to the sums. */
export function addTokens(sums: TokenSums, event: TelemetryEvent): void {
  sums.inputTokens += event.inputTokens ?? 0;
  sums.outputTokens += event.outputTokens ?? 0;
  sums.cacheTokens += event.cacheTokens ?? 0;
  sums.totalTokens += totalOf(event);
  sums.cost += event.cost ?? 0;
}

const shown = (sums: TokenSums): TokenSums => ({ ...sums, cost: withoutNoise(sums.cost) });

/** Adds up what runs have used, from their `run.tokens` events. */
export class TokenTally {
  private readonly all = noTokens();
  private readonly agents = new Groups(noTokens, maxListedAgents);
  private readonly models = new Groups(noTokens, maxListedModels);

  add(event: TelemetryEvent): void {
    addTokens(this.all, event);
    for (const sums of [this.agents.of(event.agent ?? 'unknown'), this.models.of(event.model ?? 'unknown')]) {
      if (sums) {
        addTokens(sums, event);
      }
    }
  }

  ofAgent(agent: string): TokenSums {
    return shown(this.agents.get(agent) ?? noTokens());
  }

  tokens(): Omit<TokenMetrics, 'period' | 'coverage' | 'perSuccessfulRun'> {
    const weight = ({ totalTokens }: TokenSums) => totalTokens;
    return {
      ...shown(this.all),
      byAgent: this.agents.sorted(weight).map(([agent, sums]) => ({ agent, ...shown(sums) })),
      otherAgents: this.agents.omitted,
      byModel: this.models.sorted(weight).map(([model, sums]) => ({ model, ...shown(sums) })),
      otherModels: this.models.omitted,
    };
  }
}

/** Tasks whose costs are added up one by one; further ones are a part of the sum only. */
const maxTasks = 50_000;

/** Adds up what the tasks have cost, from `run.tokens` events. */
export class TaskCostTally {
  private readonly tasks = new Groups(noTokens, maxTasks);
  private cost = 0;

  add(event: TelemetryEvent): void {
    this.cost += event.cost ?? 0;
    const sums = event.taskId === undefined ? undefined : this.tasks.of(event.taskId);
    if (sums) {
      addTokens(sums, event);
    }
  }

  /** The most expensive ones, and what all have cost together. */
  costs(limit: number) {
    const sorted = this.tasks.sorted(({ cost }) => cost);
    const taskCount = sorted.length + this.tasks.omitted;
    const totalCost = withoutNoise(this.cost);
    return {
      totalCost,
      taskCount,
      averageCost: taskCount === 0 ? 0 : withoutNoise(this.cost / taskCount),
      tasks: sorted.slice(0, limit).map(([taskId, sums]) => ({ taskId, ...shown(sums) })),
    };
  }
}
