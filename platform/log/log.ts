import pino from 'pino';

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
  'MONGODB_URL',
];

/** Builds the logger of one process: one JSON object a line on standard output, secrets redacted. */
export function createLog(options: { name: string; level: string }, destination?: pino.DestinationStream): Log {
  const settings: pino.LoggerOptions = {
    name: options.name,
    level: options.level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: secretFields.flatMap((field) => [`["${field}"]`, `*["${field}"]`]), censor: '[REDACTED]' },
  };
  return destination ? pino(settings, destination) : pino(settings);
}

/** A URL without its user name and password, for log lines and error messages. */
export function withoutCredentials(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//[REDACTED]@');
}
