import type { RunningService } from '../scripts/start-all';

/** Of a service that is measured: open to this machine, without limits, and quiet. */
export const openService = {
  PATH: process.env.PATH,
  // As operators run it: our own responses are not checked.
  NODE_ENV: 'production',
  HOME: process.env.HOME,
  BOARD_AUTH_ENABLED: 'false',
  RATE_LIMIT_GLOBAL: '0',
  RATE_LIMIT_READ: '0',
  RATE_LIMIT_WRITE: '0',
  RATE_LIMIT_UPLOAD: '0',
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
};

/** Calls the API and returns its response. @throws Error with the whole response when that is a refusal */
export async function call<T>(
  { apiUrl }: Pick<RunningService, 'apiUrl'>,
  method: string,
  path: string,
  body: object = {},
): Promise<T> {
  const response = await fetch(`${apiUrl}/api${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) {
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  }
  return (await response.json()) as T;
}
