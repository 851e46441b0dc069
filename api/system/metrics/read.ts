import type { Period } from '../../../contracts/period';
import type {
  AgentComparison,
  DurationMetrics,
  MetricsQuery,
  RunMetrics,
  TaskCostMetrics,
  TaskMetrics,
  TokenMetrics,
  TrendMetrics,
  UtilizationMetrics,
} from '../../../contracts/system/metrics';
import type { TelemetryEvent } from '../../../contracts/system/telemetry';
import { compareAgents } from '../../../domain/metrics/compare-agents';
import { Quantiles } from '../../../domain/metrics/quantiles';
import { RunTally } from '../../../domain/metrics/run-tally';
import { countTasks, type LocatedTask } from '../../../domain/metrics/task-counts';
import { TaskCostTally, TokenTally } from '../../../domain/metrics/token-tally';
import { TrendTally } from '../../../domain/metrics/trend-tally';
import { longestRunMs, UtilizationTally } from '../../../domain/metrics/utilization-tally';
import { maxPeriodDays } from '../../../domain/periods/period';
import { dayMs } from '../../../domain/periods/zone';
import { compact } from '../../../platform/json/compact';
import type { ApiContext } from '../../context';
import { listAllTasks } from '../../tasks/tasks/list-all-tasks';
import { periodOf } from './period';
import { type Scan, scan } from './scan';

/** What statistics are computed of. */
export type MetricsContext = Pick<ApiContext, 'board' | 'telemetry' | 'now'>;

/** A period, and the project whose events and tasks count; all when absent. */
export interface Scope {
  period: Period;
  project?: string | undefined;
}

/** @throws AppError 400 for a period without bounds */
export const scopeOf = ({ now }: Pick<MetricsContext, 'now'>, query: MetricsQuery): Scope => ({
  period: periodOf(query, now()),
  ...compact({ project: query.project }),
});

const scanOf = ({ telemetry }: Pick<MetricsContext, 'telemetry'>, scope: Scope): Scan => ({ telemetry, ...scope });
const into = (tally: { add: (event: TelemetryEvent) => void }) => (events: TelemetryEvent[]) =>
  events.forEach((event) => tally.add(event));

/** The tasks of the project of a scope, wherever they are. */
export function tasksOf({ board }: Pick<MetricsContext, 'board'>, { project }: Pick<Scope, 'project'>): LocatedTask[] {
  const all = listAllTasks(board);
  return project === undefined ? all : all.filter(({ task }) => task.project === project);
}

export const readTasks = (context: MetricsContext, scope: Scope): TaskMetrics =>
  countTasks(tasksOf(context, scope), scope.period);

/** How runs ended, and how long they took. */
export async function readRuns(
  context: MetricsContext,
  scope: Scope,
): Promise<{ runs: RunMetrics; duration: DurationMetrics }> {
  const tally = new RunTally();
  const coverage = await scan(scanOf(context, scope), { 'run.completed': into(tally), 'run.error': into(tally) });
  const about = { period: scope.period, coverage };
  return { runs: { ...about, ...tally.runs() }, duration: { ...about, ...tally.durations() } };
}

/** What runs used. */
export async function readTokens(context: MetricsContext, scope: Scope): Promise<TokenMetrics> {
  const tally = new TokenTally();
  const successful = new Quantiles();
  const coverage = await scan(scanOf(context, scope), {
    'run.tokens': into(tally),
    'run.completed': async (events) => {
      const attempts = events.flatMap(({ success, attemptId }) =>
        success && attemptId !== undefined ? [attemptId] : [],
      );
      const totals = await context.telemetry.tokensByAttempt([...new Set(attempts)]);
      totals.forEach((total) => successful.add(total));
    },
  });
  return {
    period: scope.period,
    coverage,
    ...tally.tokens(),
    perSuccessfulRun: {
      runs: successful.count,
      avg: Math.round(successful.mean),
      p50: Math.round(successful.at(0.5)),
      p95: Math.round(successful.at(0.95)),
    },
  };
}

/** When a period of a scope begins that has no beginning: with the first event or task, or as long ago as a period may be. */
async function beginOf(context: MetricsContext, { period }: Scope, tasks: readonly LocatedTask[]): Promise<number> {
  const end = Date.parse(period.to);
  const types = ['run.started', 'run.completed', 'run.tokens'] as const;
  const firsts = await Promise.all(types.map((type) => context.telemetry.oldest(type)));
  const times = firsts.flatMap((time) => (time === undefined ? [] : [Date.parse(time)]));
  const first = tasks.reduce((least, { task }) => Math.min(least, Date.parse(task.createdAt)), Math.min(end, ...times));
  return Math.max(first, end - maxPeriodDays * dayMs);
}

/** Runs, tokens and tasks by the parts of the period. */
export async function readTrends(context: MetricsContext, scope: Scope): Promise<TrendMetrics> {
  const tasks = tasksOf(context, scope);
  const tally = new TrendTally(scope.period, await beginOf(context, scope, tasks));
  const coverage = await scan(scanOf(context, scope), { 'run.completed': into(tally), 'run.tokens': into(tally) });
  tasks.forEach(({ task }) => tally.addTask(task));
  return { period: scope.period, coverage, ...tally.trends() };
}

/** What tasks have cost, the most expensive first. */
export async function readTaskCosts(context: MetricsContext, scope: Scope, limit: number): Promise<TaskCostMetrics> {
  const tally = new TaskCostTally();
  const coverage = await scan(scanOf(context, scope), { 'run.tokens': into(tally) });
  const { tasks, ...sums } = tally.costs(limit);
  const known = new Map(listAllTasks(context.board).map(({ task }) => [task.id, task]));
  const shown = tasks.map((cost) => {
    const task = known.get(cost.taskId);
    return { ...cost, ...compact({ title: task?.title, project: task?.project }) };
  });
  return { period: scope.period, coverage, ...sums, tasks: shown };
}

/** How busy agents were. */
export async function readUtilization(context: MetricsContext, scope: Scope): Promise<UtilizationMetrics> {
  const { period } = scope;
  const tally = new UtilizationTally(period, await beginOf(context, scope, []));
  // A run that ended after the period was active in it, when it took long enough.
  const until = new Date(Date.parse(period.to) + longestRunMs).toISOString();
  const coverage = await scan(scanOf(context, { ...scope, period: { ...period, to: until } }), {
    'run.completed': into(tally),
  });
  return { period, coverage, ...tally.utilization() };
}

/** The agents with enough runs, side by side. */
export async function readComparison(context: MetricsContext, scope: Scope, minRuns: number): Promise<AgentComparison> {
  const [runs, tokens] = [new RunTally(), new TokenTally()];
  const coverage = await scan(scanOf(context, scope), { 'run.completed': into(runs), 'run.tokens': into(tokens) });
  return { period: scope.period, coverage, ...compareAgents(runs, tokens, minRuns) };
}
