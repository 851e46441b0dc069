import Koa from 'koa';
import { AppError, type ErrorStatus } from '../errors/app-error';
import { createLog } from '../log/log';
import { errorEnvelope } from './error-envelope';
import { listen } from './server/server';

/** The header of a refusal. */
async function retryAfterOf(status: ErrorStatus, details: Record<string, unknown>): Promise<string | null> {
  const app = new Koa<{ requestId: string }>();
  app.use(errorEnvelope(createLog({ name: 'test', level: 'silent' })));
  app.use(() => {
    throw new AppError('REFUSED', { status, message: 'Refused.', details });
  });
  const server = await listen(app.callback(), { host: '127.0.0.1', port: 0 });
  try {
    const response = await fetch(server.url);
    expect(response.status).toBe(status);
    return response.headers.get('Retry-After');
  } finally {
    await server.close(0);
  }
}

describe('Retry-After', () => {
  it.each<[ErrorStatus, Record<string, unknown>, string | null]>([
    [429, { retryAfterSeconds: 7 }, '7'],
    [429, { retryAfterMs: 4_500 }, '5'],
    [429, {}, '60'],
    [503, { retryAfterMs: 5_000 }, '5'],
    [503, {}, '1'],
    [409, { retryAfterMs: 1_000 }, '1'],
    [409, {}, null],
    [400, { retryAfterMs: 1_000 }, null],
  ])('of a %d with %j is %s', async (status, details, expected) => {
    expect(await retryAfterOf(status, details)).toBe(expected);
  });
});
