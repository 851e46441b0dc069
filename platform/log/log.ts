import pino from 'pino';
import { fileDestination, isFile } from './file-destination';
import { retainLine } from './recent-lines';
import { createRedactor } from './redact';
import { redactJson } from './redact-json';

export type Log = pino.Logger;

/** Field names whose values never reach a log line, at the top and one level down. */
const secretFields = [
  'authorization',
  'cookie',
  'password',
  'token',
  'apiKey',
  'api_key',
  'secret',
  'credential',
  'x-api-key',
  'BOARD_ADMIN_KEY',
  'BOARD_API_KEYS',
  'BITMAP_TOKEN',
  'PLANTS_TOKENS',
  'WORKFLOW_RUNS_BOARD_TOKEN',
  'MONGODB_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
];

const redact = createRedactor();
const errorBounds = { bytes: 65_536, depth: 6, items: 64 };

/** An error's message, stack and fields, without what looks like a secret: a URL, or what a caller sent, may contain one. */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) {
    return typeof error === 'string' ? redact(error) : error;
  }
  const { type, message, stack, ...rest } = pino.stdSerializers.err(error);
  const texts = { type, message: redact(message), stack: redact(stack) };
  try {
    return { ...texts, ...redactJson(rest, redact, errorBounds).value };
  } catch {
    // A field that is no JSON: what matters is logged without it.
    return texts;
  }
}

/** The time of a line, as pino's own has it; many lines are written in one millisecond. */
function isoTime(): string {
  const now = Date.now();
  if (now !== lastTime.ms) {
    lastTime = { ms: now, text: `,"time":"${new Date(now).toISOString()}"` };
  }
  return lastTime.text;
}
let lastTime = { ms: Number.NaN, text: '' };

let lineFields = (): object => ({});

/** Adds fields to each line that this process logs from now on, read when the line is written. */
export function addLineFields(read: () => object): void {
  lineFields = read;
}

/** Builds the logger of one process: one JSON object a line on standard output, secrets redacted. */
export function createLog(options: { name: string; level: string }, destination?: pino.DestinationStream): Log {
  const settings: pino.LoggerOptions = {
    name: options.name,
    level: options.level,
    timestamp: isoTime,
    serializers: { err: errorFields },
    mixin: () => lineFields(),
    hooks: {
      streamWrite: (line) => {
        retainLine(line);
        return line;
      },
    },
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: secretFields.flatMap((field) => [`["${field}"]`, `*["${field}"]`]), censor: '[REDACTED]' },
  };
  const output = destination ?? (isFile(1) ? fileDestination(1) : undefined);
  return output ? pino(settings, output) : pino(settings);
}

/** A URL without its user name and password, for log lines and error messages. */
export function withoutCredentials(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//[REDACTED]@');
}
