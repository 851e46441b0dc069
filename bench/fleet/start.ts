import { join } from 'node:path';
import { nodePart } from '../../platform/processes/parts/node-part';
import { eventually } from '../../platform/testing/eventually';
import { startAll } from '../../scripts/start-all';
import { openService } from '../service';

/** A service with `workers` worker processes on one host, all of which are ready. */
export async function startFleet(dir: string, { workers, maxRuns }: { workers: number; maxRuns: number }) {
  const environment = { ...openService, BOARD_DRAIN_MS: '0', BOARD_MAX_RUNS: String(maxRuns) };
  const service = await startAll({ environment, dataDir: dir, ports: { api: 0 }, quiet: true });
  const parts = Array.from({ length: workers - 1 }, (_, index) =>
    nodePart({
      name: `worker-${index + 2}`,
      script: join(__dirname, '..', '..', 'worker', 'main.js'),
      environment: () => ({ ...environment, BOARD_DATA_DIR: dir, TEMPORAL_ADDRESS: service.temporalAddress }),
      output: { file: join(dir, 'logs', `worker-${index + 2}.log`) },
    }),
  );
  const others = await Promise.all(parts.map((part) => part.start()));
  // One that still starts takes the processors, and nothing over.
  await eventually(
    () => {
      if (!parts.every((part) => part.isReady())) {
        throw new Error('Not every worker is ready.');
      }
    },
    { withinMs: 60_000 },
  );
  return {
    service,
    /** The processes by part; all workers are one. */
    pids: (): { temporal: number; api: number; workers: number[] } => {
      const { temporal = 0, api = 0, worker = 0 } = service.pids();
      return { temporal, api, workers: [worker, ...others.map(({ pid }) => pid)] };
    },
    close: async () => {
      await Promise.all(others.map((worker) => worker.stop(10_000)));
      await service.stop();
    },
  };
}
