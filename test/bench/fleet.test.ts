import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';

const dist = join(__dirname, '..', '..', 'dist', 'bench');

let files: TempDir;

beforeEach(async () => {
  files = await makeTempDir('bench');
});

afterEach(async () => {
  // What a benchmark makes it removes.
  expect(await readdir(files.path)).toEqual([]);
  await files.remove();
});

/** Runs a benchmark as the build has it, at a size of seconds, and returns what it prints. */
async function run(script: string, sizes: Record<string, string>): Promise<string> {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, TMPDIR: files.path, ...sizes };
  const { stdout } = await promisify(execFile)(process.execPath, [join(dist, script)], { env });
  return stdout;
}

/** The cells of the row of a printed table that begins with a name. */
const rowOf = (output: string, name: string): string[] => {
  const line = output.split('\n').find((each) => each.startsWith(`│ ${name} `)) ?? '';
  return line
    .split('│')
    .slice(2, -1)
    .map((cell) => cell.trim());
};

describe('benchmarks of a fleet, at their smallest', () => {
  test('a simulated fleet loses hosts, and no run is lost or run twice', async () => {
    const output = await run('fleet/simulation/main.js', {
      FLEET_HOSTS: '2',
      FLEET_SLOTS: '1',
      FLEET_RUNS: '6',
      FLEET_TREES: '2',
      FLEET_WORKSPACES: '2',
      FLEET_LOST: '1',
      FLEET_AGENT_MS: '300',
      FLEET_AWAY_MS: '500',
    });
    expect(output).toContain('1 of 2 hosts lost at once');
    expect(output).toMatch(/What must not happen\n.*\n.*lost.*run twice.*started twice.*\n.*\n│ all +│ 0 +│ 0 +│ 0 +│/);
    expect(rowOf(output, 'all queued').length).toBeGreaterThan(0);
  });

  test('decisions of admission are measured by depth, hosts and runs', async () => {
    const output = await run('fleet/decisions.js', {
      FLEET_DEPTHS: '0,20',
      FLEET_HOST_COUNTS: '1,2',
      FLEET_RUN_COUNTS: '0,10',
      FLEET_DECISIONS: '3',
    });
    for (const row of ['1 hosts, 0 queued', '2 hosts, 20 queued', '10 runs on 2 hosts']) {
      expect(rowOf(output, row)).not.toContain('');
      expect(rowOf(output, row).length).toBeGreaterThan(1);
    }
    expect(output).not.toContain('NaN');
  });

  test('a worker takes runs beside a bare workflow', async () => {
    const output = await run('fleet/workers.js', { FLEET_WORKERS: '1', FLEET_WORKER_RUNS: '2', FLEET_CALLERS: '1' });
    expect(output).toContain('bare workflow');
    expect(output).toContain('run, 1 workers');
    expect(output).not.toContain('NaN');
  });

  test('watchers miss no event, and slow ones resume', async () => {
    const output = await run('watchers/main.js', {
      WATCHERS_SOCKETS: '5',
      WATCHERS_RATE: '100',
      WATCHERS_SECONDS: '1',
      WATCHERS_SLOW_EVENTS: '1000',
    });
    expect(rowOf(output, 'follows the run only').slice(1)).toEqual(["'no'", '1000', 'true']);
    expect(rowOf(output, 'and is sent 20 MB of notices').slice(1)).toEqual([
      expect.stringContaining('1013 too slow'),
      '1000',
      'true',
    ]);
  });
});
