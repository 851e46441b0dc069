import { createLog, withoutCredentials } from './log';

/** What a log wrote, line by line. */
function lines(write: (log: ReturnType<typeof createLog>) => void): string[] {
  const written: string[] = [];
  write(createLog({ name: 'test', level: 'info' }, { write: (line: string) => written.push(line) }));
  return written;
}

describe('log', () => {
  test('each entry is one line of JSON with a time and a level', () => {
    const [line = '', ...more] = lines((log) => log.info({ requestId: 'r1' }, 'two\nlines'));
    expect(more).toEqual([]);
    expect(JSON.parse(line)).toMatchObject({
      level: 'info',
      name: 'test',
      requestId: 'r1',
      msg: 'two\nlines',
      time: expect.any(String),
    });
    expect(line.trimEnd()).not.toContain('\n');
  });

  test('secrets never reach a line, at the top or below', () => {
    const secret = 'hunter2hunter2';
    const written = lines((log) => {
      log.info({ password: secret, authorization: secret, headers: { cookie: secret, 'x-api-key': secret } }, 'x');
      log.info({ env: { BOARD_ADMIN_KEY: secret, MONGODB_URL: secret } }, 'y');
    });
    expect(written.join('')).not.toContain(secret);
    expect(withoutCredentials(`mongodb://user:${secret}@host/db`)).toBe('mongodb://[REDACTED]@host/db');
  });

  test('secrets in errors never reach a line, be they in the message, the stack, a field or a cause', () => {
    const secret = 'hunter2hunter2';
    const cause = Object.assign(new Error(`mongodb://user:${secret}@host`), { count: 1n });
    const error = Object.assign(new Error(`GET /ws?api_key=${secret}`, { cause }), {
      code: 'EPIPE',
      request: { headers: { authorization: `Bearer ${secret}${secret}` } },
    });
    const written = lines((log) => {
      log.fatal({ err: error }, 'uncaught exception');
      log.fatal({ err: cause }, 'uncaught exception');
      log.fatal({ err: `api_key=${secret}` }, 'unhandled rejection');
    });
    expect(written.join('')).not.toContain(secret);
    expect(JSON.parse(written[0] ?? '')).toMatchObject({
      err: { type: 'Error', code: 'EPIPE', stack: expect.stringContaining('log.test') },
    });
  });
});
