import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodePart } from '../../platform/processes/parts/node-part';
import type { RunningPart } from '../../platform/processes/parts/part';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { testSettings } from '../support/settings';
import { badTargets, makeAttempt, malformedAttempts } from './malformed-traffic';

/** Each server that listens, as the process that `npm start` starts, and the form of its refusals. */
const servers = {
  api: { folder: 'api', port: 'BOARD_PORT', probe: '/health/live', envelope: { code: 'BAD_REQUEST', details: {} } },
  bitmap: { folder: 'services/bitmap', port: 'BITMAP_PORT', probe: '/health', envelope: {} },
  plants: { folder: 'services/plants', port: 'PLANTS_PORT', probe: '/health', envelope: { error: 400 } },
  'workflow-runs': {
    folder: 'services/workflow-runs',
    port: 'WORKFLOW_RUNS_PORT',
    probe: '/health',
    envelope: { errors: [{ status: '400' }] },
  },
} as const;
const names = Object.keys(servers) as (keyof typeof servers)[];
const lanes = 24;

let directory: TempDir;
const running = new Map<string, { part: RunningPart; url: string; ended: boolean }>();

async function start(name: keyof typeof servers): Promise<void> {
  const { folder, port } = servers[name];
  const output = join(directory.path, `${name}.log`);
  const part = nodePart({
    name,
    script: join(__dirname, '..', '..', 'dist', folder, 'main.js'),
    environment: () => ({
      PATH: process.env.PATH,
      TMPDIR: process.env.TMPDIR,
      ...testSettings,
      BOARD_DATA_DIR: join(directory.path, name),
      TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS,
      LOG_LEVEL: 'info',
      [port]: '0',
    }),
    output: { file: output },
  });
  const started = await part.start();
  const server = { part: started, url: '', ended: false };
  running.set(name, server);
  void started.exited.then(() => (server.ended = true));
  await eventually(() => {
    const printed = readFileSync(output, 'utf8');
    if (server.ended) {
      throw new Error(printed);
    }
    expect(part.isReady()).toBe(true);
    server.url = /"url":"(http:[^"]+)"/.exec(printed)?.[1] ?? '';
    expect(server.url).not.toBe('');
  });
}

beforeAll(async () => {
  directory = await makeTempDir('malformed');
  await Promise.all(names.map(start));
});
afterAll(async () => {
  await Promise.all([...running.values()].map(({ part }) => part.stop(10_000)));
  await directory.remove();
});

describe.each(names)('the process of the %s', (name) => {
  const { probe, envelope } = servers[name];
  const server = () => {
    const found = running.get(name);
    if (!found) {
      throw new Error(`${name} was not started`);
    }
    return found;
  };

  test('answers targets that are no URL with 400 in its envelope', async () => {
    const { url } = server();
    const { host } = new URL(url);
    for (const target of badTargets) {
      const bytes = Buffer.from(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      const reply = await makeAttempt(url, { bytes, ending: 'read' });
      expect([target, reply.split('\r\n')[0]]).toEqual([target, 'HTTP/1.1 400 Bad Request']);
      expect(JSON.parse(reply.slice(reply.indexOf('\r\n\r\n')))).toMatchObject(envelope);
    }
  });

  test('outlives whatever it is sent, and is still there to answer', async () => {
    const { url, part } = server();
    const attempts = malformedAttempts(new URL(url).host, 20261122);
    const statuses = new Map<string, number>();
    await Promise.all(
      Array.from({ length: lanes }, async () => {
        for (let attempt = attempts.shift(); attempt; attempt = attempts.shift()) {
          const status = /^HTTP\/1\.1 (\d{3})/.exec(await makeAttempt(url, attempt))?.[1] ?? 'none';
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      }),
    );
    expect([...statuses.keys()].filter((status) => status.startsWith('5'))).toEqual([]);
    expect(statuses.get('400')).toBeGreaterThan(50);
    expect((await fetch(`${url}${probe}`)).status).toBe(200);
    expect(server().ended).toBe(false);
    expect(process.kill(part.pid, 0)).toBe(true);
    expect(readFileSync(join(directory.path, `${name}.log`), 'utf8')).not.toMatch(/uncaught|unhandled/);
  });
});
