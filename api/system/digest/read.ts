import { isAbsolute, relative } from 'node:path';
import type { Period } from '../../../contracts/period';
import { type Digest, maxListed, type OperationsScope } from '../../../contracts/system/digest';
import type { TelemetryEvent } from '../../../contracts/system/telemetry';
import type { Task } from '../../../contracts/tasks/task';
import { RunTally } from '../../../domain/metrics/run-tally';
import { countTasks } from '../../../domain/metrics/task-counts';
import { TokenTally } from '../../../domain/metrics/token-tally';
import { completedBetween } from '../../../domain/summaries/board-summary';
import { validationError } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { listAllTasks } from '../../tasks/tasks/list-all-tasks';
import { periodOf } from '../metrics/period';
import { type MetricsContext, tasksOf } from '../metrics/read';
import { scan } from '../metrics/scan';

/** What a digest is about. */
export interface DigestScope {
  period: Period;
  project?: string | undefined;
  /** Which tasks, and runs of them, count; all when absent. */
  matches?: (task: Task) => boolean;
}

const hourMs = 3_600_000;

/** The last hours, until now. */
export const lastHours = (hours: number, now: Date, tz = 'UTC'): Period =>
  periodOf({ period: 'custom', from: new Date(now.getTime() - hours * hourMs).toISOString(), to: undefined, tz }, now);

const isIn = (directory: string, path: string): boolean => {
  const way = relative(directory, path);
  return way === '' || (!way.startsWith('..') && !isAbsolute(way));
};

/** @throws AppError 400 for hours beside bounds, and for a directory that is not absolute */
export function operationsScopeOf({ hours, project, repo, cwd, ...bounds }: OperationsScope, now: Date): DigestScope {
  const isBounded = bounds.from !== undefined || bounds.to !== undefined;
  if (isBounded && hours !== undefined) {
    throw validationError([{ path: 'hours', message: 'cannot be combined with from and to', code: 'custom' }]);
  }
  if (cwd !== undefined && !isAbsolute(cwd)) {
    throw validationError([{ path: 'cwd', message: 'must be an absolute path', code: 'custom' }]);
  }
  const matches = ({ git }: Task): boolean =>
    (repo === undefined || git?.repo === repo) &&
    (cwd === undefined || (git?.worktreePath !== undefined && isIn(cwd, git.worktreePath)));
  return {
    period: isBounded ? periodOf({ period: 'custom', ...bounds }, now) : lastHours(hours ?? 24, now, bounds.tz),
    ...compact({ project }),
    ...(repo === undefined && cwd === undefined ? {} : { matches }),
  };
}

/** What happened on the board in a period. */
export async function readDigest(context: MetricsContext, scope: DigestScope): Promise<Digest> {
  const { period, project, matches } = scope;
  const all = new Map(listAllTasks(context.board).map(({ task }) => [task.id, task]));
  const tasks = tasksOf(context, { project }).filter(({ task }) => matches?.(task) ?? true);
  const [runs, tokens] = [new RunTally(), new TokenTally()];
  const failed: TelemetryEvent[] = [];
  const isCounted = ({ taskId = '' }: TelemetryEvent): boolean => {
    const task = all.get(taskId);
    return matches === undefined || (task !== undefined && matches(task));
  };
  const into = (tally: RunTally | TokenTally) => (events: TelemetryEvent[]) =>
    events.filter(isCounted).forEach((event) => {
      tally.add(event);
      if (event.type === 'run.completed' && !event.success && failed.length < maxListed) {
        failed.push(event);
      }
    });
  const coverage = await scan(
    { telemetry: context.telemetry, period, ...compact({ project }) },
    { 'run.completed': into(runs), 'run.error': into(runs), 'run.tokens': into(tokens) },
  );
  const counts = countTasks(tasks, period);
  const { runs: total, successes, failures, errors, successRate, byAgent } = runs.runs();
  const { inputTokens, outputTokens, cacheTokens, totalTokens, cost } = tokens.tokens();
  const completed = completedBetween(tasks, period.from ?? '', period.to);
  const blocked = tasks.filter(({ task, location }) => location === 'active' && task.status === 'blocked');
  return {
    period,
    hasActivity: counts.completed + counts.created + total + errors + totalTokens > 0,
    tasks: {
      completed: counts.completed,
      created: counts.created,
      inProgress: counts.byStatus['in-progress'] ?? 0,
      blocked: counts.byStatus['blocked'] ?? 0,
      total: counts.total,
      completedTitles: completed.slice(0, maxListed).map(({ title }) => title),
      blockedTitles: blocked.slice(0, maxListed).map(({ task }) => task.title),
    },
    runs: { total, successes, failures, errors, successRate, byAgent, coverage },
    tokens: { inputTokens, outputTokens, cacheTokens, totalTokens, cost },
    issues: {
      failedRuns: failed.map(({ taskId = '', agent = '', timestamp, error }) => {
        return { taskId, agent, timestamp, ...compact({ error, title: all.get(taskId)?.title }) };
      }),
    },
  };
}
