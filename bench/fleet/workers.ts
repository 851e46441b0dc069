/**
 * What one, two and four worker processes on one host make of runs: an agent that does nothing, in worktrees that exist, beside
 * a bare workflow with as many activities on the same Temporal server; with the processor time of each part for a run, what it
 * has in memory, and what a run leaves in the stores.
 *
 *     npm run build && node dist/bench/fleet/workers.js
 *     FLEET_WORKERS=1,2,4 FLEET_WORKER_RUNS=200 FLEET_CALLERS=50 node dist/bench/fleet/workers.js
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseName } from '../../stores/port/database-name';
import { measureFloor } from '../floor/measure';
import type { Row } from '../floor/samples';
import { openNoopRuns } from './noop-runs';
import { bytesOf, cpuMsOf, databaseBytes, residentMb } from './processes';
import { sizeOf, sizesOf } from './sizes';
import { startFleet } from './start';

const counts = sizesOf('FLEET_WORKERS', [1, 2, 4]);
const runs = sizeOf('FLEET_WORKER_RUNS', 60);
const callers = sizeOf('FLEET_CALLERS', 20);

const round = (value: number): number => Math.round(value * 10) / 10;
const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

interface Tables {
  rates: Row[];
  costs: Row;
}

/** What runs use: processor time of each part, and bytes of each store. */
function readUse(dataDir: string, { temporal, api, workers }: { temporal: number; api: number; workers: number[] }) {
  return {
    'temporal CPU': cpuMsOf(temporal),
    'api CPU': cpuMsOf(api),
    'workers CPU': sum(workers.map(cpuMsOf)),
    'stores KB': databaseBytes(join(dataDir, databaseName)) / 1e3,
    'temporal KB': databaseBytes(join(dataDir, 'temporal', 'temporal.db')) / 1e3,
    'all files KB': bytesOf(dataDir) / 1e3,
  };
}

async function measure(workers: number): Promise<Tables> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-fleet-'));
  const dataDir = join(directory, 'data');
  const { service, pids, close } = await startFleet(dataDir, { workers, maxRuns: 1_000 });
  try {
    const floor = await measureFloor(service.temporalAddress, [{ callers, runs }]);
    const noop = await openNoopRuns(service, directory, callers);
    const before = readUse(dataDir, pids());
    const measured = await noop.measure(`run, ${workers} workers`, { callers, runs });
    const after = readUse(dataDir, pids());
    noop.close();
    const perRun = Object.entries(before).map(([name, used]): [string, number] => [
      name,
      round((after[name as keyof typeof after] - used) / runs),
    ]);
    const { temporal, api, workers: workerPids } = pids();
    return {
      rates: [
        ...floor.map((row) => ({ ...row, 'times bare': 1 })),
        { ...measured, 'times bare': ratio(measured, floor[0]) },
      ],
      costs: {
        workers,
        ...Object.fromEntries(perRun),
        'temporal MB': residentMb(temporal),
        'api MB': residentMb(api),
        'each worker MB': Math.round(sum(workerPids.map(residentMb)) / workers),
      },
    };
  } finally {
    await close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** How many times as long a run takes as the bare workflow, at the median. */
const ratio = (run: Row, bare: Row | undefined): number => round(Number(run['done p50']) / Number(bare?.['done p50']));

async function main(): Promise<void> {
  console.log(`load before: ${loadavg()[0]?.toFixed(1)}`);
  const rates: Row[] = [];
  const costs: Row[] = [];
  for (const count of counts) {
    const measured = await measure(count);
    rates.push(...measured.rates);
    costs.push(measured.costs);
  }
  console.table(rates);
  console.log('\nA run: processor time in ms, and growth; then resident memory');
  console.table(costs);
  console.log(`load after: ${loadavg()[0]?.toFixed(1)}`);
}

void main();
