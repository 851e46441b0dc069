/**
 * What a run costs: from the request to `running`, from the request to the result on the task, and runs per second, at 1,
 * 10 and 50 callers at once, beside a bare workflow with an activity for each step on the same Temporal server. The agent does
 * nothing (`true`), the worktrees exist: what is measured is Runboard.
 *
 *     npm run build && node dist/bench/runs.js
 *     node scripts/with-mongo.mjs node dist/bench/runs.js 5
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAll } from '../scripts/start-all';
import { openNoopRuns } from './fleet/noop-runs';
import { measureFloor } from './floor/measure';
import { openService, storeOfBench } from './service';

/** A first argument divides the runs, for a quick look. */
const share = Number(process.argv[2] ?? 1);

/** Runs for each number of callers. */
const loads = [
  { callers: 1, runs: 20 },
  { callers: 10, runs: 100 },
  { callers: 50, runs: 200 },
].map(({ callers, runs }) => ({ callers, runs: Math.ceil(runs / share) }));

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'runboard-bench-'));
  const environment = { ...openService, ...storeOfBench(), BOARD_MAX_RUNS: '1000' };
  const service = await startAll({
    environment,
    dataDir: join(directory, 'data'),
    ports: { api: 0 },
    quiet: true,
  });
  try {
    const floorRows = await measureFloor(service.temporalAddress, loads);
    const runs = await openNoopRuns(service, directory, Math.max(...loads.map(({ callers }) => callers)));
    const runRows = [];
    for (const load of loads) {
      runRows.push(await runs.measure('run', load));
    }
    runs.close();
    console.table([...floorRows, ...runRows]);
  } finally {
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

void main();
