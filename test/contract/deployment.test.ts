import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import manifest from '../../package.json';
import { readEnvironment } from '../../platform/config/env';
import { partSettings } from '../../platform/config/part-settings';
import { secretSettings, settingOfFile } from '../../platform/config/secret-files';
import { files, root } from './repository';

type Json = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any -- documents of others' schemas

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const chart = 'deploy/helm/runboard';
const rendered = (name: string): Json[] =>
  parseAllDocuments(read(`test/contract/fixtures/helm/${name}`))
    .map((document) => document.toJS() as Json | null)
    .filter((document) => document !== null);
const endpoints = read('docs/use/endpoints.md');
/** Names of gauges in the terms of Prometheus. */
const metrics = [...read('api/system/process-metrics/figures.ts').matchAll(/gauge\('([\w.]+)'/g)].map(([, name]) =>
  name!.replaceAll('.', '_'),
);
const queried = (expression: string) => [...expression.matchAll(/\brunboard_\w+/g)].map(([name]) => name);

const podOf = (document: Json): Json => document.spec.template.spec;
const containerOf = (document: Json): Json => podOf(document).containers[0];
const environmentOf = (document: Json): Record<string, string> =>
  Object.fromEntries((containerOf(document).env as Json[]).map(({ name, value }) => [name, value]));

describe.each(['full.yaml', 'minimal.yaml'])('chart as it is rendered to %s', (file) => {
  const documents = rendered(file);
  const one = (kind: string, name: string): Json =>
    documents.find((document) => document.kind === kind && document.metadata.name === name)!;
  const parts = ['api', 'worker'] as const;
  const deployments = parts.map((part) => [part, one('Deployment', `board-runboard-${part}`)] as const);

  it.each(deployments)('gives the %s settings that it reads, and no secret among them', (part, deployment) => {
    const given = environmentOf(deployment);
    const names = Object.keys(given).map((name) => settingOfFile(name) ?? name);
    expect(names).toEqual([...new Set(names)]);
    expect(partSettings[part]).toEqual(expect.arrayContaining(names));
    const secrets: readonly string[] = secretSettings;
    expect(Object.keys(given).filter((name) => name !== 'MONGODB_URL' && secrets.includes(name))).toEqual([]);
    const values = Object.entries(given).filter(([name]) => !settingOfFile(name) && !name.endsWith('_FILE'));
    const key = part === 'api' ? { BOARD_ADMIN_KEY: 'k'.repeat(24) } : {};
    expect(readEnvironment({ ...Object.fromEntries(values), ...key }, partSettings[part])).toMatchObject({
      BOARD_DATA_DIR: '/data/board',
      NODE_ENV: 'production',
    });
  });

  it.each(deployments)('copies each secret of the %s to a file, from a reference, and no other', (part, deployment) => {
    const { volumes, initContainers } = podOf(deployment);
    const mounted = (volumes as Json[]).find(({ name }) => name === 'mounted-secrets')!.secret;
    const wanted = Object.entries(environmentOf(deployment)).filter(([name]) => settingOfFile(name));
    expect(mounted.secretName).toBe('runboard');
    expect((mounted.items as Json[]).map(({ path }) => `/run/secrets/runboard/${path}`).sort()).toEqual(
      wanted.map(([, path]) => path).sort(),
    );
    expect(wanted.every(([name, path]) => path === `/run/secrets/runboard/${settingOfFile(name)}`)).toBe(true);
    expect(initContainers[0].args[0]).toMatch(/^umask 077\ncp -f \/run\/mounted\/\* \/run\/secrets\/runboard\/\n/);
    const mounts = (containerOf(deployment).volumeMounts as Json[]).map(({ name }) => name as string);
    expect(mounts).not.toContain('mounted-secrets');
    expect(mounted.items.some(({ path }: Json) => path === 'BOARD_ADMIN_KEY')).toBe(part === 'api');
  });

  it.each(deployments)('runs the %s without rights that it does not need', (_part, deployment) => {
    const pod = podOf(deployment);
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    for (const container of [...pod.containers, ...pod.initContainers] as Json[]) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container.resources).toHaveProperty('limits.memory');
    }
  });

  it.each(deployments)('starts the entry point of the %s, by the entry point of the image', (part, deployment) => {
    const { command, args } = containerOf(deployment);
    expect(command).toBeUndefined();
    expect(args).toEqual(['node', '--enable-source-maps', `dist/${part}/main.js`]);
    expect(files).toContain(`${part}/main.ts`);
  });

  it('probes paths that the API has, on its port', () => {
    const container = containerOf(deployments[0]![1]);
    const ports = Object.fromEntries(
      (container.ports as Json[]).map(({ name, containerPort }) => [name, containerPort]),
    );
    expect(ports).toEqual({ http: 3001 });
    expect(environmentOf(deployments[0]![1])).toMatchObject({ BOARD_PORT: '3001', BOARD_HOST: '0.0.0.0' });
    const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((name) => container[name].httpGet as Json);
    expect(probes.map(({ path }) => path)).toEqual(['/health/live', '/health/live', '/health/ready']);
    for (const { path, port } of probes) {
      expect([port, endpoints.includes(`\`GET ${path}\` (public)`)]).toEqual(['http', true]);
    }
  });

  it('gives the API the origin of its ingress with TLS, and none where it is not known', () => {
    const expected = file === 'full.yaml' ? 'https://board.example' : undefined;
    expect(environmentOf(deployments[0]![1]).BOARD_PUBLIC_URL).toBe(expected);
    expect(environmentOf(deployments[1]![1])).not.toHaveProperty('BOARD_PUBLIC_URL');
  });

  it('gives a worker longer to end than it waits for its agents', () => {
    const worker = deployments[1]![1];
    const given = environmentOf(worker);
    const waits = Number(given.BOARD_DRAIN_MS) + Number(given.BOARD_STOP_GRACE_MS) + 15_000;
    expect(podOf(worker).terminationGracePeriodSeconds * 1_000).toBeGreaterThan(waits);
    const [{ containerPort }] = containerOf(worker).ports;
    expect(given.BOARD_WORKER_METRICS_ADDRESS).toBe(`0.0.0.0:${containerPort}`);
    const service = one('Service', 'board-runboard-api');
    expect(given.BOARD_TOOL_BRIDGE_URL).toBe(`http://${service.metadata.name}:${service.spec.ports[0].port}`);
  });

  it('selects the pods of its own parts in each of its objects', () => {
    for (const [part, deployment] of deployments) {
      const { labels } = deployment.spec.template.metadata;
      const budget = one('PodDisruptionBudget', `board-runboard-${part}`).spec.selector.matchLabels;
      const policy = one('NetworkPolicy', `board-runboard-${part}`).spec.podSelector.matchLabels;
      for (const selector of [deployment.spec.selector.matchLabels, budget, policy]) {
        expect(labels).toMatchObject(selector);
        expect(selector['app.kubernetes.io/component']).toBe(part);
      }
    }
  });

  it('lets agents reach no private network and no metadata of a cloud', () => {
    const { egress } = one('NetworkPolicy', 'board-runboard-worker').spec;
    const [block] = (egress as Json[]).flatMap(({ to = [] }) => to as Json[]).filter(({ ipBlock }) => ipBlock);
    expect(block!.ipBlock.except).toEqual(expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16', '192.168.0.0/16']));
    expect(one('NetworkPolicy', 'board-runboard-worker').spec.policyTypes).toEqual(['Ingress', 'Egress']);
  });
});

describe('alarms', () => {
  const rules = (parse(read('deploy/prometheus/alerts.yml')) as Json).groups[0].rules as Json[];

  it('have a runbook each, and there are no others', () => {
    const pages = readdirSync(join(root, 'docs/operate/runbooks')).filter((name) => name !== 'README.md');
    expect(rules.map(({ annotations }) => annotations.runbook).sort()).toEqual(
      pages.map((name) => `docs/operate/runbooks/${name}`).sort(),
    );
    for (const { alert, annotations } of rules) {
      expect(read(annotations.runbook).split('\n')[0]).toBe(`# ${alert}`);
    }
  });
});

describe('autoscaling of workers', () => {
  const rule = (parse(read('deploy/prometheus/rules.yml')) as Json).groups[0].rules[0] as Json;

  it('asks Prometheus for metrics that the API has, the same as the recorded rule', () => {
    const scaled = rendered('full.yaml').find(({ kind }) => kind === 'ScaledObject')!;
    const { query, threshold } = scaled.spec.triggers[0].metadata;
    expect(query).toBe(rule.expr);
    expect(threshold).toBe('5');
    expect(queried(query)).toEqual(['runboard_queue_depth', 'runboard_admission_reservations']);
    expect(metrics).toEqual(expect.arrayContaining(queried(query)));
    expect(scaled.spec.scaleTargetRef.name).toBe('board-runboard-worker');
  });

  it('takes the metric of an adapter where there is no KEDA', () => {
    const [scaler] = rendered('hpa.yaml');
    const [{ external }] = scaler!.spec.metrics;
    expect(external.metric.name).toBe((rule.record as string).replaceAll(':', '_'));
    expect(scaler!.spec.scaleTargetRef).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: 'board-runboard-worker',
    });
  });

  it('leaves the number of replicas to what scales them, and is off by default', () => {
    const replicas = (file: string) =>
      rendered(file).find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'board-runboard-worker')!
        .spec.replicas as unknown;
    expect([replicas('full.yaml'), replicas('minimal.yaml')]).toEqual([undefined, 2]);
    expect(rendered('minimal.yaml').map(({ kind }) => kind as string)).not.toContain('ScaledObject');
  });
});

describe('values of the chart', () => {
  const validate = new Ajv({ strict: false }).compile(JSON.parse(read(`${chart}/values.schema.json`)) as Json);
  const defaults = () => parse(read(`${chart}/values.yaml`)) as Json;

  it('are what the schema allows', () => {
    for (const file of ['values.yaml', 'ci/values.yaml']) {
      expect([file, validate(parse(read(`${chart}/${file}`))), validate.errors]).toEqual([file, true, null]);
    }
  });

  it.each<[string, (values: Json) => void]>([
    ['a misspelt name', (values) => (values.workers = {})],
    ['a secret among the settings', (values) => (values.config.BOARD_ADMIN_KEY = 'k')],
    ['a setting that the chart sets', (values) => (values.worker.config.BOARD_DRAIN_MS = '1')],
    ['a password in the URL of MongoDB', (values) => (values.mongodb.url = 'mongodb://board:secret@host/board')],
    ['a path in the origin of the page', (values) => (values.api.publicUrl = 'https://board.example/board')],
    ['a way of scaling that there is not', (values) => (values.worker.autoscaling.mode = 'always')],
    ['no worker at all', (values) => (values.worker.autoscaling.minReplicas = 0)],
  ])('are refused with %s', (_mistake, change) => {
    const values = defaults();
    change(values);
    expect(validate(values)).toBe(false);
  });

  it('refuse each secret and each setting of the chart as a free setting', () => {
    const templates =
      read(`${chart}/templates/_helpers.tpl`) +
      read(`${chart}/templates/api.yaml`) +
      read(`${chart}/templates/worker.yaml`);
    const set = [...templates.matchAll(/- \{ name: ([A-Z_]+),/g)].map(([, name]) => name!);
    const secrets = secretSettings.filter((name) =>
      [...partSettings.api, ...partSettings.worker].includes(name as never),
    );
    expect(set.length).toBeGreaterThan(10);
    for (const name of [...set, ...secrets]) {
      const values = defaults();
      values.config[name] = 'x';
      expect([name, validate(values)]).toEqual([name, false]);
    }
  });
});

describe('chart', () => {
  it('has the version of the service', () => {
    const { version, appVersion } = parse(read(`${chart}/Chart.yaml`)) as Json;
    expect([version, appVersion]).toEqual([manifest.version, manifest.version]);
  });

  it('is rendered in the files that these tests read', () => {
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/render-chart.mjs'), '--check'], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
  });
});

describe('Dockerfile', () => {
  const source = read('Dockerfile');
  const last = source.slice(source.lastIndexOf('\nFROM '));

  it('ends with a stage that has no compiler, no npm install and no sources', () => {
    expect(source.match(/^FROM /gm)).toHaveLength(3);
    expect(last).not.toMatch(/npm |gcc|g\+\+|make|build-essential|python|COPY \. /);
    expect([...last.matchAll(/^COPY --from=(\w+) (\S+)/gm)].map(([, stage, path]) => `${stage} ${path}`)).toEqual([
      'modules /app/package.json',
      'modules /app/node_modules',
      'build /app/LICENSE',
      'modules /app/dist',
    ]);
  });

  it('records what a start loads with the packages that it has', () => {
    const modules = source.slice(source.indexOf(' AS modules\n'), source.lastIndexOf('\nFROM '));
    const steps = [...modules.matchAll(/^(?:RUN |COPY --from).*$/gm)].map(([step]) => step);
    expect(steps).toEqual([
      'RUN npm ci --omit=dev --workspaces=false',
      'COPY --from=build /app/dist ./dist',
      'RUN node dist/scripts/record-compile-cache.js',
    ]);
  });

  it('runs as no root, by an init that reaps, with a health check of a path that the API has', () => {
    expect(last).toMatch(/^USER 1000:1000$/m);
    expect(last.indexOf('USER')).toBeLessThan(last.indexOf('HEALTHCHECK'));
    const [, path = ''] = /HEALTHCHECK[\s\S]*?\}(\/[\w/]+)`/.exec(last) ?? [];
    expect(endpoints).toContain(`\`GET ${path}\` (public)`);
    expect(last).toMatch(/apt-get install .*\btini\b/);
    expect(last).toMatch(/^ENTRYPOINT \["\/usr\/bin\/tini", "--"\]$/m);
    expect(last).toMatch(/^CMD \["node", "--enable-source-maps", "dist\/api\/main\.js"\]$/m);
  });

  it('names no architecture', () => {
    expect(source).not.toMatch(/amd64|arm64|x86_64|aarch64|--platform/);
  });
});

describe('YAML files', () => {
  const yaml = files.filter((file) => /\.ya?ml$/.test(file) && !file.startsWith(`${chart}/templates/`));

  it('can be parsed', () => {
    const broken = yaml.filter((file) =>
      parseAllDocuments(read(file), { merge: true }).some((one) => one.errors.length > 0),
    );
    expect(broken).toEqual([]);
    expect(yaml.length).toBeGreaterThan(5);
  });
});
