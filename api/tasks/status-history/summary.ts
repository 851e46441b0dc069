import type { AgentState } from '../../../contracts/chat/agent-status';
import { storedTimes } from '../../../contracts/query';
import type { StatusChange, StatusDay, StatusPeriod } from '../../../contracts/tasks/status-history';
import { compact } from '../../../platform/json/compact';

export const dayMs = 86_400_000;

/** The date of a time (UTC). */
export const dateOf = (time: Date): string => time.toISOString().slice(0, 10);

/** What ends a stretch of time, as an ISO time (UTC). */
export const endAt = (ms: number): string => new Date(Math.min(ms, storedTimes.lastMs)).toISOString();

/** The beginning of a day and of the next one, as ISO times (UTC). */
export function boundsOf(date: string): { start: string; end: string } {
  const start = Date.parse(`${date}T00:00:00.000Z`);
  return { start: new Date(start).toISOString(), end: endAt(start + dayMs) };
}

const kindOf: Record<AgentState, 'activeMs' | 'idleMs' | 'errorMs'> = {
  idle: 'idleMs',
  working: 'activeMs',
  thinking: 'activeMs',
  'sub-agent': 'activeMs',
  error: 'errorMs',
};

/** The time of a day by status. The time before the first recorded change counts for nothing, nor does the time to come. */
export function summariseDay(
  date: string,
  {
    changes,
    before,
    now,
  }: {
    /** Those within the day, the oldest first. */
    changes: readonly StatusChange[];
    /** The last change before the day. */
    before: StatusChange | undefined;
    /** The end of the recorded time. */
    now: Date;
  },
): StatusDay {
  const { start, end } = boundsOf(date);
  const until = Math.min(Date.parse(end), Math.max(now.getTime(), Date.parse(start)));
  const all = before ? [{ ...before, timestamp: start }, ...changes] : changes;
  const periods = all.map((change, index) => periodOf(change, Date.parse(all[index + 1]?.timestamp ?? '') || until));
  const sums = { activeMs: 0, idleMs: 0, errorMs: 0 };
  for (const { status, durationMs } of periods) {
    sums[kindOf[status]] += durationMs;
  }
  return { date, ...sums, transitions: changes.length, periods };
}

function periodOf({ newStatus, timestamp, taskId, taskTitle }: StatusChange, end: number): StatusPeriod {
  const begin = Date.parse(timestamp);
  const endTime = new Date(Math.max(begin, end)).toISOString();
  return {
    status: newStatus,
    startTime: timestamp,
    endTime,
    durationMs: Math.max(0, end - begin),
    ...compact({ taskId, taskTitle }),
  };
}
