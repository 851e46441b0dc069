import { setImmediate as nextTurn } from 'node:timers/promises';
import { type LogEntry, type LogLevel, logLevel, type LogQuery } from '../../../contracts/system/maintenance';
import type { RetainedLine } from '../../../platform/log/recent-lines';
import type { Redactor } from '../../../platform/log/redact';
import { redactJson } from '../../../platform/log/redact-json';
import { runExclusive } from '../../../platform/operations/keyed-mutex';
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

/** What a line is filtered by before its secrets are hidden, which takes much longer than to read it. */
interface Header {
  time: string | null;
  level: LogLevel | null;
}

function headerOf({ time, level }: Record<string, unknown> = {}): Header {
  const at = Date.parse(textOf(time));
  return {
    time: Number.isNaN(at) ? null : new Date(at).toISOString(),
    level: logLevel.safeParse(level).data ?? null,
  };
}

/** A line as it may be shown. */
function entryOf({ sequence, line }: RetainedLine, clean: Redactor): LogEntry {
  const logged = fieldsOf(line);
  const header = headerOf(logged);
  if (!logged) {
    return { sequence, ...header, message: cut(clean(line.trim()), maxMessage), fields: {} };
  }
  const { time: _time, level: _level, msg, pid: _pid, hostname: _hostname, ...rest } = logged;
  return {
    sequence,
    ...header,
    message: cut(clean(textOf(msg)), maxMessage),
    fields: redactJson(rest, clean, bounds).value,
  };
}

const rank = (level: LogLevel | null): number => (level === null ? -1 : logLevel.options.indexOf(level));

const isAtLeastLevel = ({ level }: Header, least: LogLevel): boolean => rank(level) >= rank(least);

/** How many lines there are of which level, without the rest of them. */
export function countLines(lines: readonly RetainedLine[]): { lines: number; warnings: number; errors: number } {
  const headers = lines.map(({ line }) => headerOf(fieldsOf(line)));
  return {
    lines: headers.length,
    warnings: headers.filter(({ level }) => level === 'warn').length,
    errors: headers.filter((header) => isAtLeastLevel(header, 'error')).length,
  };
}

export type EntryFilter = Pick<LogQuery, 'level' | 'since' | 'q'>;

const isLogged = (header: Header, { level, since }: EntryFilter): boolean =>
  (level === undefined || isAtLeastLevel(header, level)) &&
  (since === undefined || (header.time !== null && header.time >= since));

const isFound = ({ message, fields }: LogEntry, { q }: EntryFilter): boolean =>
  q === undefined || `${message} ${JSON.stringify(fields)}`.toLowerCase().includes(q.toLowerCase());

/** How long lines are cleaned before other requests have their turn, in milliseconds. */
const sliceMs = 5;

/**
 * The first of the lines that are asked for, as they may be shown; what was redacted of a line is not found. No more lines are
 * cleaned than it takes, and one such list at a time: other requests are served meanwhile.
 */
export const readEntries = (
  lines: readonly RetainedLine[],
  { clean, limit, filter = {} }: { clean: Redactor; limit: number; filter?: EntryFilter },
): Promise<LogEntry[]> =>
  runExclusive('log-entries', async () => {
    const entries: LogEntry[] = [];
    let began = performance.now();
    for (const line of lines) {
      if (entries.length >= limit) {
        break;
      }
      if (performance.now() - began >= sliceMs) {
        await nextTurn();
        began = performance.now();
      }
      if (!isLogged(headerOf(fieldsOf(line.line)), filter)) {
        continue;
      }
      const entry = entryOf(line, clean);
      if (isFound(entry, filter)) {
        entries.push(entry);
      }
    }
    return entries;
  });
