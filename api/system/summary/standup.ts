import type { Period } from '../../../contracts/period';
import { maxSummarized, type Standup } from '../../../contracts/system/summary';
import type { TimeEntry } from '../../../contracts/tasks/time';
import type { LocatedTask } from '../../../domain/metrics/task-counts';
import { calendarDayAt, formatDay } from '../../../domain/periods/zone';
import { completedBetween, shownTask, withStatus } from '../../../domain/summaries/board-summary';
import type { ApiContext } from '../../context';
import { periodOf } from '../metrics/period';
import { tasksOf } from '../metrics/read';
import { scan } from '../metrics/scan';

type StandupContext = Pick<ApiContext, 'board' | 'telemetry' | 'activity' | 'now'>;

/** Entries of the activity of a day. */
const maxActivity = 50;

/** Seconds of a day that an entry covers; one that is running lasts until now. */
function secondsWithin({ startTime, endTime }: TimeEntry, { from, to }: Period, now: Date): number {
  const begin = Math.max(Date.parse(startTime), Date.parse(from ?? to));
  const end = Math.min(endTime === undefined ? now.getTime() : Date.parse(endTime), Date.parse(to));
  return Math.max(0, end - begin) / 1_000;
}

function statsOf(tasks: readonly LocatedTask[], day: Period, now: Date) {
  const from = day.from ?? '';
  const entries = tasks.flatMap(({ task }) => task.timeTracking?.entries ?? []);
  const comments = tasks.flatMap(({ task }) => task.comments ?? []);
  return {
    totalTimeTracked: Math.round(entries.reduce((total, entry) => total + secondsWithin(entry, day, now), 0)),
    commentsAdded: comments.filter(({ timestamp }) => timestamp >= from && timestamp < day.to).length,
  };
}

async function activeAgents({ telemetry }: Pick<StandupContext, 'telemetry'>, period: Period): Promise<number> {
  const agents = new Set<string>();
  const take = (events: readonly { agent?: string | undefined }[]) =>
    events.forEach(({ agent }) => agent !== undefined && agents.add(agent));
  await scan({ telemetry, period }, { 'run.started': take, 'run.completed': take });
  return agents.size;
}

/** What was done on a day, and what is to be done. */
export async function readStandup(
  context: StandupContext,
  { date, tz }: { date?: string | undefined; tz: string },
): Promise<Standup> {
  const now = context.now();
  const day = date ?? formatDay(calendarDayAt(tz, now.getTime()));
  const period = periodOf({ period: 'custom', from: day, to: day, tz }, now);
  const from = period.from ?? '';
  const tasks = tasksOf(context, {});
  const completed = completedBetween(tasks, from, period.to);
  const justBefore = (time: string) => new Date(Date.parse(time) - 1).toISOString();
  const activity = await context.activity.list({
    limit: maxActivity,
    page: 0,
    since: justBefore(from),
    until: justBefore(period.to),
  });
  return {
    date: day,
    completed: completed.slice(0, maxSummarized).map(shownTask),
    inProgress: withStatus(tasks, 'in-progress'),
    blocked: withStatus(tasks, 'blocked'),
    upcoming: withStatus(tasks, 'todo').slice(0, 10),
    activity: activity.items,
    stats: {
      tasksCompleted: completed.length,
      ...statsOf(tasks, period, now),
      agentsActive: await activeAgents(context, period),
    },
  };
}
