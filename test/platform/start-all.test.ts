import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { EnvironmentError } from '../../platform/config/env';
import { DataDirectoryInUseError } from '../../platform/processes/data-directory';
import { identify } from '../../platform/processes/identity';
import { claimPort, PortInUseError } from '../../platform/processes/parts/claim-port';
import { readRuntime } from '../../platform/temporal/embedded/runtime-file';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { type RunningService, startAll, type StartOptions } from '../../scripts/start-all';

const environment = { PATH: process.env.PATH, HOME: process.env.HOME, BOARD_AUTH_ENABLED: 'false' };
const freePorts = { api: 0 };

describe('the whole service', () => {
  let directory: TempDir;
  let service: RunningService;
  const options = (): StartOptions => ({
    environment,
    dataDir: join(directory.path, 'data'),
    ports: freePorts,
    quiet: true,
  });
  const isLive = async () => expect((await fetch(`${service.apiUrl}/health/live`)).status).toBe(200);

  beforeAll(async () => {
    directory = await makeTempDir('start-all');
    service = await startAll(options());
  });

  afterAll(async () => {
    await service.stop();
    await directory.remove();
  });

  test('listens where it logs, without the small services unless they are named', async () => {
    await isLive();
    expect(service.temporalUiUrl).toBeUndefined();
    expect(Object.keys(service.pids())).toEqual(['temporal', 'worker', 'api']);
  });

  test.each(['worker', 'api', 'temporal'])('has its %s again after kill -9, at the same place', async (part) => {
    const pid = service.pids()[part]!;
    process.kill(pid, 'SIGKILL');
    await eventually(() => expect(service.pids()[part]).not.toBe(pid));
    await eventually(isLive);
  });

  test('is not started twice on one data directory', async () => {
    await expect(startAll(options())).rejects.toThrow(DataDirectoryInUseError);
    await isLive();
  });

  test('ends with everything it started', async () => {
    const pids = Object.values(service.pids());
    await service.stop();
    expect(await service.ended).toBe(0);
    for (const pid of pids) {
      expect(await identify(pid)).toBeUndefined();
    }
    const { port } = new URL(service.apiUrl);
    await expect(claimPort(Number(port), 'BOARD_PORT')).resolves.toBe(Number(port));
  });

  test('can be started again on its data directory', async () => {
    service = await startAll(options());
    await isLive();
  });
});

describe('a start that cannot succeed', () => {
  test('names the settings that are wrong', async () => {
    const failing = startAll({ environment: { ...environment, BOARD_PORT: 'many', BOARD_COLOUR: 'red' } });
    await expect(failing).rejects.toThrow(EnvironmentError);
    await expect(failing).rejects.toThrow(/BOARD_PORT[^]*BOARD_COLOUR/);
  });

  test('names the setting of a taken port, and leaves nothing', async () => {
    const directory = await makeTempDir('start-all');
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const dataDir = join(directory.path, 'data');
    const start = (ports: StartOptions['ports']) => startAll({ environment, dataDir, ports, quiet: true });
    await expect(start({ api: port })).rejects.toThrow(/BOARD_PORT/);
    await expect(start({ api: 0, temporalUi: port })).rejects.toThrow(PortInUseError);
    other.close();
    await directory.remove();
  });

  test.each<[string, Record<string, string>, string]>([
    ['host', { BOARD_HOST: 'host.invalid' }, 'host.invalid is not an address of this machine. Set BOARD_HOST'],
    ['data directory', { BOARD_DATA_DIR: '/dev/null/x' }, 'BOARD_DATA_DIR: /dev/null/x is not a directory'],
  ])('names the setting of a %s that cannot be used, with exit code 2', async (_setting, wrong, message) => {
    const script = join(__dirname, '..', '..', 'dist', 'scripts', 'start.js');
    const program = spawn(process.execPath, [script], { env: { ...environment, BOARD_PORT: '0', ...wrong } });
    const printed = text(program.stderr);
    const [code] = await once(program, 'exit');
    expect(code).toBe(2);
    expect(await printed).toMatch(new RegExp(`^${message}.*\n$`));
  });

  test('reports which Temporal does not respond, in seconds, and again when it gives up', async () => {
    const directory = await makeTempDir('start-all');
    const address = `127.0.0.1:${await claimPort(0, 'test')}`;
    const reported: string[] = [];
    const starting = startAll({
      environment: { ...environment, TEMPORAL_ADDRESS: address, PLANTS_TOKENS: 'ann:the-token-of-ann-0000000' },
      dataDir: join(directory.path, 'data'),
      ports: freePorts,
      quiet: true,
      report: (line) => reported.push(line),
      readyWithinMs: 6_000,
    });
    const rejected = expect(starting).rejects.toThrow(
      new RegExp(
        `The worker was not ready[^]*Temporal at ${address} \\(TEMPORAL_ADDRESS\\) does not respond: connect ECONNREFUSED`,
      ),
    );
    const startedAt = performance.now();
    await eventually(() => expect(reported).toEqual([expect.stringContaining(`Temporal at ${address} `)]));
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    await rejected;
    await directory.remove();
  });

  test('stops half-way when it is cancelled', async () => {
    const directory = await makeTempDir('start-all');
    const dataDir = join(directory.path, 'data');
    const stopping = new AbortController();
    const starting = startAll({ environment, dataDir, ports: freePorts, quiet: true, signal: stopping.signal });
    const rejected = expect(starting).rejects.toThrow('never mind');
    const { pid } = await eventually(async () => {
      const temporal = await readRuntime(dataDir);
      if (!temporal) {
        throw new Error('Temporal has not started yet');
      }
      return temporal;
    });
    stopping.abort(new Error('never mind'));
    await rejected;
    expect(await identify(pid)).toBeUndefined();
    await directory.remove();
  });
});
