import type { AgentLine, Line } from '../ledger';

/** Checks agents by the ledger alone: one of a task at a time, each attempt's started once. */
export function problemsOfAgents(lines: readonly Line[]): string[] {
  const problems: string[] = [];
  /** The attempt whose agent started last, by task. */
  const latest = new Map<string, string>();
  const started = new Set<string>();
  const ended = new Set<string>();
  for (const line of lines) {
    if (line.by !== 'agent') {
      continue;
    }
    const { what, task, attempt } = line;
    if (what === 'overlap') {
      problems.push(`${task}: the agent of ${line.other} lived when that of ${attempt} started`);
    }
    if (what === 'start') {
      if (started.has(attempt)) {
        problems.push(`${attempt}: its agent was started twice`);
      }
      started.add(attempt);
      latest.set(task, attempt);
    } else if (latest.get(task) !== attempt) {
      problems.push(`${task}: the agent of ${attempt} did "${what}" after that of ${latest.get(task)} had started`);
    }
    if (ended.has(attempt)) {
      problems.push(`${attempt}: its agent did "${what}" after its end`);
    }
    if (what === 'end') {
      ended.add(attempt);
    }
  }
  return problems;
}

/** What the agent of an attempt wrote. */
export function byAttempt(lines: readonly Line[]): Map<string, AgentLine[]> {
  const found = new Map<string, AgentLine[]>();
  for (const line of lines) {
    if (line.by === 'agent') {
      found.set(line.attempt, [...(found.get(line.attempt) ?? []), line]);
    }
  }
  return found;
}
