import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readEnvironment } from '../../platform/config/env';
import { partSettings } from '../../platform/config/part-settings';
import { settingOfFile } from '../../platform/config/secret-files';
import { devServerArguments } from '../../platform/temporal/embedded/dev-server-arguments';
import { makeTempDir } from '../../platform/testing/temp-dir';

const root = join(__dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

interface Service {
  image?: string;
  build?: string;
  command: string[];
  user?: string;
  profiles?: string[];
  secrets?: string[];
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  privileged?: boolean;
  read_only?: boolean;
  restart?: string;
  container_name?: string;
  ports?: string[];
  volumes?: string[];
  networks: string[];
  healthcheck?: object;
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
}

/** `${NAME}`, `${NAME:-default}` and `${NAME:?message}`; `$$` is a dollar sign for the container. */
const variable = /(?<!\$)\$\{(\w+)(?::([-?])([^}]*))?\}/g;

const source = read('docker-compose.yml');
const compose = parse(source, { merge: true }) as {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean } | null>;
  secrets: Record<string, { file: string }>;
  volumes: object;
};
const ours = Object.entries(compose.services).filter(([, { build }]) => build !== undefined);
const example = Object.fromEntries(
  read('.env.example')
    .split('\n')
    .filter((line) => /^\w/.test(line))
    .map((line) => line.split('=') as [string, string]),
);

/** The names of the rules a compose file breaks; `invalid-schema` is that of the Compose specification. */
function lint(file: string, disabledRules: string[] = []): string[] {
  const linter = join(root, 'node_modules', 'dclint', 'bin', 'dclint.cjs');
  const disabled = disabledRules.flatMap((rule) => ['--disable-rule', rule]);
  const { stdout } = spawnSync(process.execPath, [linter, file, '--formatter', 'json', ...disabled], {
    encoding: 'utf8',
  });
  const [result] = JSON.parse(stdout) as { messages: { rule: string; message: string; line: number }[] }[];
  return (result?.messages ?? []).map(({ rule, message, line }) => `${rule}: ${message} (line ${line})`);
}

describe('docker-compose.yml', () => {
  test('is valid by the schema of the Compose specification and passes the linter', () => {
    // Taste: the order in which a reader meets the services, and one image that is built here and named for both of ours.
    const taste = [
      'no-build-and-image',
      'require-project-name-field',
      'service-dependencies-alphabetical-order',
      'service-keys-order',
      'services-alphabetical-order',
      'top-level-properties-order',
    ];
    // The linter reads tags and addresses without filling in variables; the tests below do.
    const blind = ['service-image-require-explicit-tag', 'no-unbound-port-interfaces'];
    expect(lint(join(root, 'docker-compose.yml'), [...taste, ...blind])).toEqual([]);
  });

  test('would be refused with a mistake in it', () => {
    const mistaken = lint(join(__dirname, 'fixtures', 'invalid-compose.yml'));
    expect(mistaken).toContainEqual(expect.stringMatching(/^invalid-schema: .*depends_on/));
  });

  test('gives our processes an environment they accept, of settings that each reads and nothing of the others', async () => {
    const dir = await makeTempDir('compose');
    const secretFile = join(dir.path, 'secret');
    await writeFile(secretFile, `agents:${'a'.repeat(24)}:agent`, { mode: 0o600 });
    const fill = (text: string) =>
      text.replace(
        variable,
        (_all: string, name: string, _kind?: string, other?: string): string => example[name] || (other ?? ''),
      );
    expect(ours.map(([name]) => name)).toEqual(['api', 'worker', 'temporal-ui-proxy']);
    for (const part of ['api', 'worker'] as const) {
      const { environment: given } = compose.services[part]!;
      const filled = Object.fromEntries(
        Object.entries(given!).map(([name, text]) => [name, name.endsWith('_FILE') ? secretFile : fill(text)]),
      );
      const names = Object.keys(filled).map((name) => settingOfFile(name) ?? name);
      expect(partSettings[part]).toEqual(expect.arrayContaining(names));
      if (part === 'api') {
        expect(Object.keys(filled)).toContain('BOARD_PUBLIC_URL');
      }
      expect(readEnvironment(filled, partSettings[part])).toMatchObject({
        BOARD_DATA_DIR: '/data',
        NODE_ENV: 'production',
      });
    }
    await dir.remove();
  });

  test('has no secret in an environment: each is a file, given to those who use it', () => {
    const environments = Object.entries(compose.services).map(([name, { environment: given = {} }]) => [name, given]);
    const inTheOpen = /(PASSWORD|PWD|KEYS?|SECRET|TOKENS?)$/;
    for (const [service, given] of environments) {
      for (const [name, value] of Object.entries(given as Record<string, string>)) {
        expect([service, name]).not.toEqual([service, expect.stringMatching(inTheOpen)]);
        expect(value).not.toMatch(/:\/\/[^/@]*:[^/@]*@/);
        if (name.endsWith('_FILE')) {
          expect(value).toBe(`/run/secrets/${value.split('/').at(-1)}`);
        }
      }
    }
    const users = Object.fromEntries(
      Object.keys(compose.secrets).map((secret) => [
        secret,
        Object.keys(compose.services).filter((name) => compose.services[name]?.secrets?.includes(secret)),
      ]),
    );
    expect(users).toEqual({
      board_admin_key: ['api'],
      board_api_keys: ['api'],
      board_webhook_secret: ['worker'],
      mongo_password: ['api', 'worker'],
      mongo_root_password: ['mongo', 'mongo-replica-set'],
      mongo_member_key: ['mongo'],
      postgres_password: ['postgres', 'temporal-schema', 'temporal'],
    });
    for (const { secrets = [], environment: given = {}, command } of Object.values(compose.services)) {
      for (const secret of secrets) {
        const path = `/run/secrets/${secret}`;
        expect(Object.values(given).includes(path) || String(command).includes(path)).toBe(true);
      }
    }
    const made = read('deploy/make-secrets');
    for (const secret of Object.keys(compose.secrets)) {
      expect(made).toMatch(new RegExp(`^(ours|theirs) ${secret} `, 'm'));
    }
  });

  test('lets no service have more rights than it needs', () => {
    for (const [name, service] of Object.entries(compose.services)) {
      expect([name, service.cap_drop, service.cap_add]).toEqual([name, ['ALL'], undefined]);
      expect([name, service.security_opt]).toEqual([name, ['no-new-privileges:true']]);
      expect([name, service.privileged, service.restart !== undefined]).toEqual([name, undefined, true]);
    }
    const writable = Object.keys(compose.services).filter((name) => compose.services[name]?.read_only !== true);
    expect(writable).toEqual(['temporal-ui']);
  });

  test('lets services reach their peers only', () => {
    const on = (network: string) =>
      Object.keys(compose.services).filter((name) => compose.services[name]?.networks.includes(network));
    expect(on('edge')).toEqual(['api', 'temporal-ui-proxy']);
    expect(on('internet')).toEqual(['worker']);
    expect(on('documents')).toEqual(['api', 'worker', 'mongo', 'mongo-replica-set']);
    expect(on('temporal')).toEqual(['api', 'worker', 'temporal', 'temporal-namespace', 'temporal-ui']);
    expect(on('temporal-store')).toEqual(['postgres', 'temporal-schema', 'temporal']);
    expect(on('ui')).toEqual(['temporal-ui', 'temporal-ui-proxy']);
    const open = Object.keys(compose.networks).filter((name) => compose.networks[name]?.internal !== true);
    expect(open).toEqual(['edge', 'internet']);
  });

  test('publishes the api, and on request a proxy before Temporal’s UI, on the loopback address only', () => {
    const published = Object.entries(compose.services).flatMap(([name, { ports = [], profiles = [] }]) =>
      ports.map((port) => [name, profiles, port]),
    );
    expect(published).toEqual([
      ['api', [], '${BOARD_PUBLISH:-127.0.0.1:3001}:3001'],
      ['temporal-ui-proxy', ['ui'], '127.0.0.1:8080:8080'],
    ]);
    expect(compose.services['temporal-ui']).toMatchObject({ profiles: ['ui'] });
  });

  test('starts entry points that exist', () => {
    for (const [, { command }] of ours) {
      const script = command.find((argument) => argument.startsWith('dist/'));
      expect(existsSync(join(root, script!.replace(/^dist\/(.*)\.js$/, '$1.ts')))).toBe(true);
    }
  });

  test('has a default for every variable, which the example names', () => {
    const used = new Map([...source.matchAll(variable)].map(([, name = '', kind, text]) => [name, { kind, text }]));
    expect([...used.keys()].sort()).toEqual(Object.keys(example).sort());
    for (const [name, { kind, text }] of used) {
      expect([name, kind]).toEqual([name, '-']);
      expect([name, example[name]]).toEqual([name, text]);
    }
  });

  test('lets workers be scaled: no name, no published port, the board directory shared with the api', () => {
    const { api, worker } = compose.services as { api: Service; worker: Service };
    expect(worker.container_name).toBeUndefined();
    expect(worker.ports).toBeUndefined();
    expect(worker.volumes).toContain('board:/data');
    expect(api.volumes).toEqual(worker.volumes);
  });

  test('gives its Temporal server the limits of the embedded one', () => {
    const inContainers = parse(read('deploy/temporal-dynamic-config.yaml')) as Record<string, { value: number }[]>;
    const embedded = devServerArguments({ dbFile: 'temporal.db', namespace: 'default', port: 7233, httpPort: 7243 });
    expect(Object.keys(inContainers)).toContain('history.transferProcessorMaxPollRPS');
    for (const [name, [limit]] of Object.entries(inContainers)) {
      expect(embedded).toContain(`${name}=${limit?.value}`);
    }
  });

  test('uses official images by the exact tag of a release', () => {
    const official = /^(mongo|postgres|temporalio\/(server|admin-tools|ui)):\$\{\w+:-\d+\.\d+(\.\d+)?\}$/;
    for (const [name, { build, image }] of Object.entries(compose.services)) {
      if (build === undefined) {
        expect([name, image]).toEqual([name, expect.stringMatching(official)]);
      }
    }
    for (const [, from] of read('Dockerfile').matchAll(/^FROM (\S+)/gm)) {
      expect(from).toMatch(/^node:\d+\.\d+\.\d+-\w+-slim$/);
    }
    // A release of PostgreSQL has two numbers; of the others three.
    expect([example.POSTGRES_VERSION, example.MONGO_VERSION]).toEqual([
      expect.stringMatching(/^\d+\.\d+$/),
      expect.stringMatching(/^\d+\.\d+\.\d+$/),
    ]);
  });

  test('waits for health where it depends on something that stays', () => {
    for (const { depends_on: needed = {} } of Object.values(compose.services)) {
      for (const [name, { condition }] of Object.entries(needed)) {
        const stays = compose.services[name]?.healthcheck !== undefined;
        expect([name, condition]).toEqual([name, stays ? 'service_healthy' : 'service_completed_successfully']);
      }
    }
  });
});

describe('deploy/make-secrets', () => {
  test('makes every secret once, for the user of the containers alone', async () => {
    const dir = await makeTempDir('make-secrets');
    const script = join(dir.path, 'deploy', 'make-secrets');
    await mkdir(join(dir.path, 'deploy'));
    await writeFile(script, read('deploy/make-secrets'), { mode: 0o755 });
    const isRoot = process.getuid?.() === 0;
    const run = () => spawnSync('/bin/sh', ['-c', 'umask 000; exec "$0"', script], { encoding: 'utf8' });
    if (!isRoot && process.getuid?.() !== 1000) {
      expect(run()).toMatchObject({ status: 1, stderr: expect.stringContaining('Run this as root') });
      await dir.remove();
      return;
    }
    expect(run()).toMatchObject({ status: 0, stderr: '' });
    const made = join(dir.path, 'secrets');
    const contents = async () =>
      Object.fromEntries(
        await Promise.all(
          (await readdir(made)).map(async (name) => [name, await readFile(join(made, name), 'utf8')] as const),
        ),
      );
    const first = await contents();
    expect(Object.keys(first).sort()).toEqual(Object.keys(compose.secrets).sort());
    expect(first.mongo_root_password).toBe(first.mongo_password);
    expect((await lstat(made)).mode & 0o777).toBe(0o700);
    for (const name of ['board_admin_key', 'board_api_keys', 'board_webhook_secret', 'mongo_password']) {
      const { mode, uid } = await lstat(join(made, name));
      expect([name, mode & 0o777, uid]).toEqual([name, 0o600, 1000]);
    }
    const given = { BOARD_ADMIN_KEY: first.board_admin_key!.trim(), BOARD_API_KEYS: first.board_api_keys!.trim() };
    expect(readEnvironment(given).BOARD_API_KEYS).toMatchObject([{ name: 'agents', role: 'agent' }]);
    expect(run()).toMatchObject({ status: 0 });
    expect(await contents()).toEqual(first);
    await dir.remove();
  });
});
