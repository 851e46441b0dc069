import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { environment, readEnvironment } from '../../platform/config/env';

const root = join(__dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

interface Service {
  image?: string;
  build?: string;
  command: string[];
  container_name?: string;
  ports?: string[];
  volumes?: string[];
  networks: string[];
  healthcheck?: object;
  environment: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
}

/** `${NAME}`, `${NAME:-default}` and `${NAME:?message}`; `$$` is a dollar sign for the container. */
const variable = /(?<!\$)\$\{(\w+)(?::([-?])([^}]*))?\}/g;

const source = read('docker-compose.yml');
const compose = parse(source, { merge: true }) as {
  services: Record<string, Service>;
  networks: object;
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

  test('gives our processes an environment they accept', () => {
    const given: Record<string, string> = { ...example, BOARD_ADMIN_KEY: 'a'.repeat(24), MONGO_PASSWORD: 'b' };
    const fill = (text: string) =>
      text.replace(
        variable,
        (_all: string, name: string, _kind?: string, other?: string): string => given[name] || (other ?? ''),
      );
    expect(ours.map(([name]) => name)).toEqual(['api', 'worker']);
    for (const [, service] of ours) {
      const filled = Object.fromEntries(Object.entries(service.environment).map(([name, text]) => [name, fill(text)]));
      expect(Object.keys(environment.shape)).toEqual(expect.arrayContaining(Object.keys(filled)));
      expect(readEnvironment(filled)).toMatchObject({ BOARD_DATA_DIR: '/data', NODE_ENV: 'production' });
    }
  });

  test('starts entry points that exist', () => {
    for (const [, { command }] of ours) {
      const script = command.find((argument) => argument.startsWith('dist/'));
      expect(existsSync(join(root, script!.replace(/^dist\/(.*)\.js$/, '$1.ts')))).toBe(true);
    }
  });

  test('has no default for a secret, and the example names every variable with the default it has', () => {
    const used = new Map([...source.matchAll(variable)].map(([, name = '', kind, text]) => [name, { kind, text }]));
    expect([...used.keys()].sort()).toEqual(Object.keys(example).sort());
    for (const [name, { kind, text }] of used) {
      const isSecret = /PASSWORD|ADMIN_KEY|MEMBER_KEY/.test(name);
      expect([name, kind]).toEqual([name, isSecret ? '?' : '-']);
      expect([name, example[name]]).toEqual([name, isSecret ? '' : text]);
    }
  });

  test('lets workers be scaled: no name, no published port, the board directory shared with the api', () => {
    const { api, worker } = compose.services as { api: Service; worker: Service };
    expect(worker.container_name).toBeUndefined();
    expect(worker.ports).toBeUndefined();
    expect(worker.volumes).toContain('board:/data');
    expect(api.volumes).toEqual(worker.volumes);
  });

  test('uses official images with a version, and publishes on the loopback address only', () => {
    const official = /^(mongo|postgres|temporalio\/(server|admin-tools|ui)):\$\{\w+:-\d[\d.]*\}$/;
    for (const [name, { build, image, ports = [] }] of Object.entries(compose.services)) {
      if (build === undefined) expect([name, image]).toEqual([name, expect.stringMatching(official)]);
      for (const port of ports) expect(port).toMatch(/^\$\{\w+:-127\.0\.0\.1:\d+\}:\d+$/);
    }
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
