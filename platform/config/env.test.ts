import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../testing/temp-dir';
import { environment, EnvironmentError, readEnvironment } from './env';
import { environmentOfPart, type PartName, partSettings } from './part-settings';
import { secretSettings } from './secret-files';

const adminKey = 'the-key-of-the-administrator';
const sound = { BOARD_ADMIN_KEY: adminKey };
const provider = {
  BOARD_PUBLIC_URL: 'https://board.example',
  BOARD_OIDC_ISSUER: 'https://id.example/realms/one',
  BOARD_OIDC_CLIENT_ID: 'board',
  BOARD_OIDC_ROLE_GROUPS: 'ops:admin',
};
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

test.each<[string | undefined, string[]]>([
  [undefined, []],
  ['all', ['bitmap', 'plants', 'workflow-runs']],
  ['workflow-runs, plants', ['plants', 'workflow-runs']],
])('SERVICES=%s names small services', (list, expected) => {
  expect(readEnvironment({ ...sound, SERVICES: list }).SERVICES).toEqual(expected);
});

test('a small service that there is none of is a problem', () => {
  expect(() => readEnvironment({ ...sound, SERVICES: 'plants,roses' })).toThrow(
    'SERVICES: has no service roses: all, bitmap, plants, workflow-runs',
  );
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

describe('a setting that could not take effect', () => {
  const pem = (type: 'ed25519' | 'ed448', half: 'publicKey' | 'privateKey'): string => {
    const { publicKey, privateKey } = generateKeyPairSync(type as 'ed25519');
    return half === 'publicKey'
      ? (publicKey.export({ type: 'spki', format: 'pem' }) as string)
      : (privateKey.export({ type: 'pkcs8', format: 'pem' }) as string);
  };
  const notAnOrigin = 'must be http(s)://host[:port], without path, query and credentials';
  const notAKey = 'must be the PEM of an Ed25519 public key, or base64 of it';

  it.each([
    ['BOARD_WORKER_METRICS_ADDRESS', 'localhost:9464', 'must be IP address:port'],
    ['BOARD_WORKER_METRICS_ADDRESS', '127.0.0.1:99999', 'must be IP address:port'],
    ['BOARD_WORKER_METRICS_ADDRESS', '[127.0.0.1]:9464', 'must be IP address:port'],
    ['BOARD_WORKER_METRICS_ADDRESS', '::1:9464', 'must be IP address:port'],
    ['TEMPORAL_ADDRESS', '127.0.0.1:99999', 'must be host:port, with a port of 1 to 65535'],
    ['TEMPORAL_ADDRESS', '127.0.0.1:0', 'must be host:port, with a port of 1 to 65535'],
    ['TEMPORAL_ADDRESS', '127.0.0.1', 'must be host:port, with a port of 1 to 65535'],
    ['WORKFLOW_RUNS_JWT_PUBLIC_KEY', 'foo', notAKey],
    ['WORKFLOW_RUNS_JWT_PUBLIC_KEY', pem('ed448', 'publicKey'), notAKey],
    ['WORKFLOW_RUNS_JWT_PUBLIC_KEY', pem('ed25519', 'privateKey'), notAKey],
    ['WORKFLOW_RUNS_BOARD_URL', 'foo', notAnOrigin],
    ['WORKFLOW_RUNS_PUBLIC_URL', 'https://runs.example/path', notAnOrigin],
    ['BOARD_ALLOWED_ORIGINS', 'https://a.example,foo', `entry 2 ${notAnOrigin}`],
    ['BOARD_ALLOWED_ORIGINS', 'http://a/b', `entry 1 ${notAnOrigin}`],
    ['BOARD_ALLOWED_ORIGINS', '*', `entry 1 ${notAnOrigin}`],
  ])('is a problem: %s=%s', (name, value, problem) => {
    expect(() => readEnvironment({ ...sound, [name]: value })).toThrow(`${name}: ${problem}`);
  });

  it('is read in the form in which it is compared or used', () => {
    const key = pem('ed25519', 'publicKey');
    const env = readEnvironment({
      ...sound,
      BOARD_ALLOWED_ORIGINS: 'http://127.0.0.1:23101/, HTTPS://UI.example:443',
      BOARD_WORKER_METRICS_ADDRESS: '[::1]:9464',
      WORKFLOW_RUNS_JWT_PUBLIC_KEY: Buffer.from(key).toString('base64'),
    });
    expect(env.BOARD_ALLOWED_ORIGINS).toEqual(['http://127.0.0.1:23101', 'https://ui.example']);
    expect(env.BOARD_WORKER_METRICS_ADDRESS).toBe('[::1]:9464');
    expect(env.WORKFLOW_RUNS_JWT_PUBLIC_KEY).toBe(key);
  });
});

test('authentication without any way in is a problem', () => {
  expect(() => readEnvironment({})).toThrow('BOARD_ADMIN_KEY');
  expect(readEnvironment({ BOARD_AUTH_ENABLED: 'false' }).BOARD_AUTH_ENABLED).toBe(false);
});

test('versions of workers are pinned only where they have a build id', () => {
  const pinned = { ...sound, BOARD_WORKER_VERSIONING: 'pinned' };
  expect(() => readEnvironment(pinned)).toThrow(
    'BOARD_WORKER_BUILD_ID: required while BOARD_WORKER_VERSIONING is pinned',
  );
  expect(readEnvironment({ ...pinned, BOARD_WORKER_BUILD_ID: 'one' }).BOARD_WORKER_VERSIONING).toBe('pinned');
});

describe('sign-in with a provider', () => {
  const read = (settings: Record<string, string> = {}) => readEnvironment({ ...sound, ...provider, ...settings });

  it('has an ordered list of groups with their roles', () => {
    const list = 'urn:ops:admin, cn=dev%2Cou=it:agent,everyone:read-only';
    expect(read({ BOARD_OIDC_ROLE_GROUPS: list }).BOARD_OIDC_ROLE_GROUPS).toEqual([
      { group: 'urn:ops', role: 'admin' },
      { group: 'cn=dev,ou=it', role: 'agent' },
      { group: 'everyone', role: 'read-only' },
    ]);
  });

  it.each(['http://id.example', 'https://user:pass@id.example', 'https://id.example/?a=b', 'ldap://id.example', 'x'])(
    'is refused with the issuer %s',
    (issuer) => expect(() => read({ BOARD_OIDC_ISSUER: issuer })).toThrow('BOARD_OIDC_ISSUER: must be an https URL'),
  );

  it('may use http on this machine', () => {
    for (const issuer of ['http://127.0.0.1:9', 'http://127.8.8.8:9', 'http://[::1]:9', 'http://localhost:9']) {
      expect(read({ BOARD_OIDC_ISSUER: issuer }).BOARD_OIDC_ISSUER).toBe(issuer);
    }
    expect(() => read({ BOARD_OIDC_ISSUER: 'http://127.0.0.1.evil.example' })).toThrow('BOARD_OIDC_ISSUER');
    expect(read({ BOARD_PUBLIC_URL: 'http://localhost:3001/' }).BOARD_PUBLIC_URL).toBe('http://localhost:3001');
  });

  it.each<[string, Record<string, string>]>([
    ['BOARD_OIDC_CLIENT_ID: required', { BOARD_OIDC_CLIENT_ID: '' }],
    ['BOARD_PUBLIC_URL: required', { BOARD_PUBLIC_URL: '' }],
    ['BOARD_PUBLIC_URL: must have no path', { BOARD_PUBLIC_URL: 'https://board.example/sub' }],
    ['BOARD_OIDC_ROLE_GROUPS: required', { BOARD_OIDC_ROLE_GROUPS: '' }],
    ['BOARD_OIDC_ROLE_GROUPS: entry 2 is not group:role', { BOARD_OIDC_ROLE_GROUPS: 'a:admin,b:owner' }],
    ['BOARD_OIDC_SCOPES: must have the scope openid', { BOARD_OIDC_SCOPES: 'email' }],
    ['BOARD_OIDC_ROLE_GROUPS: has no effect', { BOARD_OIDC_ISSUER: '' }],
  ])('is refused at start: %s', (problem, settings) => expect(() => read(settings)).toThrow(problem));

  it('needs no groups where every user has a role', () => {
    expect(read({ BOARD_OIDC_ROLE_GROUPS: '', BOARD_OIDC_DEFAULT_ROLE: 'read-only' }).BOARD_OIDC_ROLE_GROUPS).toEqual(
      [],
    );
  });
});

test('the page on configuration names every setting with its default', () => {
  const page = readFileSync(join(__dirname, '..', '..', 'docs', 'operate', 'configuration.md'), 'utf8');
  const rows = new Map(
    [...page.matchAll(/^\| `([A-Z_]+)` +\| ([^|]*)\|/gm)].map(([, name = '', value = '']) => [name, value.trim()]),
  );
  expect([...rows.keys()].sort()).toEqual(Object.keys(environment.shape).sort());
  const defaults = environment.parse({}) as Record<string, unknown>;
  for (const [name, shown] of rows) {
    const value = defaults[name];
    if (shown.startsWith('`')) {
      expect([name, shown]).toEqual([name, `\`${String(value)}\``]);
    }
  }
});

describe('a secret in a file', () => {
  let dir: TempDir;
  const file = async (content: string, mode: number): Promise<string> => {
    const path = join(dir.path, `secret-${mode}-${content.length}`);
    await writeFile(path, content);
    await chmod(path, mode);
    return path;
  };

  beforeAll(async () => {
    dir = await makeTempDir('secrets');
  });
  afterAll(() => dir.remove());

  const key = 'the-administrator-s-key-of-this-test';

  it.each(secretSettings)('is read for %s', async (setting) => {
    const values: Partial<Record<string, string>> = {
      BOARD_API_KEYS: 'ci:a-long-key-of-the-pipeline:agent',
      PLANTS_TOKENS: 'anna:a-long-token-of-anna-for-plants',
      MONGODB_URL: 'mongodb://board@h/board',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector',
    };
    const given = { [`${setting}_FILE`]: await file(`${values[setting] ?? key}\n`, 0o600) };
    const inEnvironment = { [setting]: values[setting] ?? key };
    const besides = {
      ...(setting === 'BOARD_ADMIN_KEY' ? {} : sound),
      ...(setting === 'BOARD_OIDC_CLIENT_SECRET' ? provider : {}),
    };
    expect(readEnvironment({ ...besides, ...given })).toEqual(readEnvironment({ ...besides, ...inEnvironment }));
  });

  it('is refused when others can read it, when it is empty or absent, and beside the setting itself', async () => {
    for (const mode of [0o640, 0o604, 0o644, 0o620]) {
      const path = await file(key, mode);
      expect(() => readEnvironment({ BOARD_ADMIN_KEY_FILE: path })).toThrow(/BOARD_ADMIN_KEY_FILE: .*chmod 600/);
    }
    const empty = await file('', 0o600);
    expect(() => readEnvironment({ ...sound, BITMAP_TOKEN_FILE: empty })).toThrow('is empty');
    expect(() => readEnvironment({ ...sound, BITMAP_TOKEN_FILE: join(dir.path, 'none') })).toThrow('(ENOENT)');
    const path = await file(key, 0o400);
    const both = { BOARD_ADMIN_KEY: 'another-key-of-the-administrator', BOARD_ADMIN_KEY_FILE: path };
    expect(() => readEnvironment(both)).toThrow('keep one of the two');
    expect(() => readEnvironment(both)).not.toThrow(key);
  });

  it('may be a credential of systemd, which its group seems to read', async () => {
    const path = await file(`${key}.`, 0o440);
    expect(() => readEnvironment({ BOARD_ADMIN_KEY_FILE: path })).toThrow('chmod 600');
    process.env.CREDENTIALS_DIRECTORY = dir.path;
    expect(readEnvironment({ BOARD_ADMIN_KEY_FILE: path }).BOARD_ADMIN_KEY).toBe(`${key}.`);
    const open = await file(`${key}..`, 0o444);
    expect(() => readEnvironment({ BOARD_ADMIN_KEY_FILE: open })).toThrow('chmod 600');
    delete process.env.CREDENTIALS_DIRECTORY;
  });

  it('has the password of the database, which goes into its URL', async () => {
    const password = await file('p@ss/word', 0o600);
    const url = 'mongodb://board@a:27017,b:27017/board?replicaSet=board';
    const { MONGODB_URL } = readEnvironment({ ...sound, MONGODB_URL: url, MONGODB_PASSWORD_FILE: password });
    expect(MONGODB_URL).toBe('mongodb://board:p%40ss%2Fword@a:27017,b:27017/board?replicaSet=board');
  });
});

describe('the environment of a part', () => {
  const every = Object.fromEntries(Object.keys(environment.shape).map((name) => [name, `value of ${name}`]));
  const source = { ...every, PATH: '/bin', MODEL_KEY: 'key of an agent' };
  const parts = Object.keys(partSettings) as PartName[];

  it.each(parts)('of %s has the settings that it reads, and no others', (part) => {
    const given = Object.keys(environmentOfPart(part, source)).filter((name) => name in environment.shape);
    expect(given.filter((name) => name !== 'NODE_ENV').sort()).toEqual(
      [...partSettings[part]].filter((name) => name !== 'NODE_ENV').sort(),
    );
  });

  it('has no secret that the part does not use', () => {
    const secrets = (part: PartName) => secretSettings.filter((name) => name in environmentOfPart(part, source));
    const shared = ['MONGODB_URL', 'MONGODB_PASSWORD', 'TEMPORAL_API_KEY'];
    const traced = [...shared, 'OTEL_EXPORTER_OTLP_HEADERS'];
    expect(secrets('api')).toEqual([
      ...['BOARD_ADMIN_KEY', 'BOARD_API_KEYS', 'BOARD_CREDENTIAL_KEY', 'BOARD_OIDC_CLIENT_SECRET'],
      ...traced,
    ]);
    expect(secrets('worker')).toEqual(['BOARD_CREDENTIAL_KEY', 'BOARD_WEBHOOK_SECRET', ...traced]);
    expect(secrets('bitmap')).toEqual(['OTEL_EXPORTER_OTLP_HEADERS', 'BITMAP_TOKEN']);
    expect(secrets('plants')).toEqual([...traced, 'PLANTS_TOKENS', 'PLANTS_WEBHOOK_SECRET']);
    expect(secrets('workflow-runs')).toEqual([...traced, 'WORKFLOW_RUNS_BOARD_TOKEN']);
  });

  it('has the keys of agents and models only where they are used', () => {
    expect(parts.filter((part) => 'MODEL_KEY' in environmentOfPart(part, source))).toEqual(['worker', 'workflow-runs']);
    expect(parts.filter((part) => !('PATH' in environmentOfPart(part, source)))).toEqual([]);
  });

  it.each([
    ['EMBEDDING_API_KEY', true],
    ['OPENAI_EMBEDDING_KEY', true],
    ['OPENAI_API_KEY', false],
    ['EMBEDDING_API_KEY_FILE', false],
    ['embedding_key', false],
  ])('gives the API the key of an embedding model, by the name %s: %s', (name, isGiven) => {
    expect(name in environmentOfPart('api', { ...source, [name]: 'x' })).toBe(isGiven);
    expect(name in environmentOfPart('plants', { ...source, [name]: 'x' })).toBe(false);
  });

  it('is every setting of ours together, but for what the supervisor reads', () => {
    const read = new Set<string>(Object.values(partSettings).flat());
    expect(Object.keys(environment.shape).filter((name) => !read.has(name))).toEqual(['SERVICES', 'TEMPORAL_UI_PORT']);
  });
});
