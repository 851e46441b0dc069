import { createLog, withoutCredentials } from './log';

/** What a log wrote, line by line. */
function lines(write: (log: ReturnType<typeof createLog>) => void): string[] {
  const written: string[] = [];
  write(createLog({ name: 'test', level: 'info' }, { write: (line: string) => written.push(line) }));
  return written;
}

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
