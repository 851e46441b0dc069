import type { AgentLine, Line } from '../ledger';

/** An attempt as the service returns it. */
interface Followed {
  createdAt: string;
  parentAttemptId?: string;
}

/**
 * From the death of a worker to the attempt that followed each one whose agent that worker had started and was at work, in
 * milliseconds. Its agent may start later: it waits in the queue for capacity.
 */
export function recoveryTimes(lines: readonly Line[], attempts: readonly Followed[]): number[] {
  const starts = new Map<string, AgentLine[]>();
  const endedAt = new Map<string, number>();
  for (const line of lines) {
    if (line.by !== 'agent') {
      continue;
    }
    if (line.what === 'start') {
      starts.set(line.task, [...(starts.get(line.task) ?? []), line]);
    }
    if (line.what === 'end') {
      endedAt.set(line.attempt, line.at);
    }
  }
  return lines.flatMap((line) => {
    if (line.by !== 'chaos' || !/^kill (second )?worker$/.test(line.what)) {
      return [];
    }
    const { at, pid } = line;
    return [...starts.values()].flatMap((ofTask) => {
      // The last one that the worker had started by then.
      const index = ofTask.findLastIndex((start) => start.at <= at && start.supervisors?.includes(pid));
      const struck = ofTask[index];
      if (struck === undefined || (endedAt.get(struck.attempt) ?? Infinity) <= at) {
        return [];
      }
      const next = attempts.find(({ parentAttemptId }) => parentAttemptId === struck.attempt);
      const tookMs = next === undefined ? 0 : Date.parse(next.createdAt) - at;
      return tookMs > 0 ? [tookMs] : [];
    });
  });
}
