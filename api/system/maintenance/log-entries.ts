import { type LogEntry, type LogLevel, logLevel, type LogQuery } from '../../../contracts/system/maintenance';
import type { RetainedLine } from '../../../platform/log/recent-lines';
import type { Redactor } from '../../../platform/log/redact';
import { redactJson } from '../../../platform/log/redact-json';
import { cut } from '../../../platform/text/cut';

const bounds = { bytes: 8_192, depth: 5, items: 50 };
const maxMessage = 2_000;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function fieldsOf(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    // A line that was cut.
    return undefined;
  }
}

/** A line as it may be shown. */
export function entryOf({ sequence, line }: RetainedLine, clean: Redactor): LogEntry {
  const logged = fieldsOf(line);
  if (!logged) {
    return { sequence, time: null, level: null, message: cut(clean(line.trim()), maxMessage), fields: {} };
  }
  const { time, level, msg, pid: _pid, hostname: _hostname, ...rest } = logged;
  const at = Date.parse(textOf(time));
  return {
    sequence,
    time: Number.isNaN(at) ? null : new Date(at).toISOString(),
    level: logLevel.safeParse(level).data ?? null,
    message: cut(clean(textOf(msg)), maxMessage),
    fields: redactJson(rest, clean, bounds).value,
  };
}

const rank = (level: LogLevel | null): number => (level === null ? -1 : logLevel.options.indexOf(level));

export const isAtLeastLevel = (entry: LogEntry, least: LogLevel): boolean => rank(entry.level) >= rank(least);

/** Whether an entry is asked for; what was redacted of it is not found. */
export function isAskedFor(entry: LogEntry, { level, since, q }: Pick<LogQuery, 'level' | 'since' | 'q'>): boolean {
  return (
    (level === undefined || isAtLeastLevel(entry, level)) &&
    (since === undefined || (entry.time !== null && entry.time >= since)) &&
    (q === undefined || `${entry.message} ${JSON.stringify(entry.fields)}`.toLowerCase().includes(q.toLowerCase()))
  );
}
