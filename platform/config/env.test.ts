import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EnvironmentError, environment, readEnvironment } from './env';

const adminKey = 'the-key-of-the-administrator';
const sound = { BOARD_ADMIN_KEY: adminKey };
const keyOf = (name: string): string => `the-key-of-${name}`.padEnd(24, '.');

test('every problem is listed at once, and no secret is in the message', () => {
  const read = () =>
    readEnvironment({
      BOARD_PORT: 'x',
      BOARD_API_KEYS: 'ci:s3cret-key:owner',
      MONGODB_URL: 'http://u:pw@h',
      BOARD_PROT: '1',
    });
  expect(read).toThrow(EnvironmentError);
  try {
    read();
  } catch (error) {
    const { problems, message } = error as EnvironmentError;
    expect(problems.map((problem) => problem.split(':')[0]).sort()).toEqual([
      'BOARD_API_KEYS',
      'BOARD_PORT',
      'BOARD_PROT',
      'MONGODB_URL',
    ]);
    expect(message).not.toMatch(/s3cret|pw/);
  }
});

test('keys are read with their roles, empty values count as absent', () => {
  const env = readEnvironment({
    ...sound,
    BOARD_API_KEYS: `ci:${keyOf('ci')}:agent,ops:${keyOf('ops')}:admin`,
    LOG_LEVEL: '',
  });
  expect(env.BOARD_API_KEYS.map(({ name, role }) => [name, role])).toEqual([
    ['ci', 'agent'],
    ['ops', 'admin'],
  ]);
  expect(env.LOG_LEVEL).toBe('info');
});

test.each([
  ['BOARD_ADMIN_KEY', 'short-key'],
  ['BOARD_API_KEYS', 'ci:short-key:agent'],
  ['BITMAP_TOKEN', 'short-key'],
  ['PLANTS_TOKENS', 'ann:short-key'],
])('a short key in %s is a problem', (name, value) => {
  const read = () => readEnvironment({ ...sound, [name]: value });
  expect(read).toThrow(new RegExp(`${name}: .*at least 24 characters`));
  expect(read).not.toThrow('short-key');
});

test.each([
  ['BOARD_API_KEYS: entry 1', { BOARD_API_KEYS: `ci:${adminKey}:read-only` }],
  ['BOARD_API_KEYS: entry 2', { BOARD_API_KEYS: `a:${keyOf('ci')}:agent,b:${keyOf('ci')}:admin` }],
  ['PLANTS_TOKENS: entry 2', { PLANTS_TOKENS: `ann:${keyOf('ann')},ben:${keyOf('ann')}` }],
  ['PLANTS_TOKENS: entry 1', { PLANTS_TOKENS: `ann:${adminKey}` }],
  ['BITMAP_TOKEN', { BITMAP_TOKEN: adminKey }],
])('one key under two names is a problem: %s', (place, settings) => {
  const read = () => readEnvironment({ ...sound, ...settings });
  expect(read).toThrow(new RegExp(`${place}.* the same key as`));
  expect(read).not.toThrow(/the-key-of/);
});

test('authentication without any way in is a problem', () => {
  expect(() => readEnvironment({})).toThrow('BOARD_ADMIN_KEY');
  expect(readEnvironment({ BOARD_AUTH_ENABLED: 'false' }).BOARD_AUTH_ENABLED).toBe(false);
});

test('the table in the README names every setting with its default', () => {
  const readme = readFileSync(join(__dirname, '..', '..', 'README.md'), 'utf8');
  const rows = new Map(
    [...readme.matchAll(/^\| `([A-Z_]+)` +\| ([^|]*)\|/gm)].map(([, name = '', value = '']) => [name, value.trim()]),
  );
  expect([...rows.keys()].sort()).toEqual(Object.keys(environment.shape).sort());
  const defaults = environment.parse({}) as Record<string, unknown>;
  for (const [name, shown] of rows) {
    const value = defaults[name];
    if (shown.startsWith('`')) expect([name, shown]).toEqual([name, `\`${String(value)}\``]);
  }
});
