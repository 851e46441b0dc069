import type { AgentLine, Line } from '../ledger';

/**
 * From the death of a worker to the start of the next agent of each task whose agent that worker had started and was at
 * work, in milliseconds: as the agents themselves wrote it.
 */
export function recoveryTimes(lines: readonly Line[]): number[] {
  const starts = new Map<string, AgentLine[]>();
  const endedAt = new Map<string, number>();
  for (const line of lines) {
    if (line.by !== 'agent') continue;
    if (line.what === 'start') starts.set(line.task, [...(starts.get(line.task) ?? []), line]);
    if (line.what === 'end') endedAt.set(line.attempt, line.at);
  }
  return lines.flatMap((line) => {
    if (line.by !== 'chaos' || !/^kill (second )?worker$/.test(line.what)) return [];
    const { at, pid } = line;
    return [...starts.values()].flatMap((ofTask) => {
      // The last one that the worker had started by then.
      const index = ofTask.findLastIndex((start) => start.at <= at && start.supervisors?.includes(pid));
      const [struck, next] = [ofTask[index], ofTask[index + 1]];
      if (index < 0 || !struck || !next || next.at <= at) return [];
      return (endedAt.get(struck.attempt) ?? Infinity) <= at ? [] : [next.at - at];
    });
  });
}
