import { join } from 'node:path';
import { environmentOrExit } from '../../platform/config/env';
import { ListenError } from '../../platform/http/server';
import { createLog } from '../../platform/log/log';
import { announceReady, endInOrder } from '../../platform/processes/lifecycle';
import { configurationErrorExitCode } from '../../platform/processes/part';
import { connectClient, connectWorker } from '../../platform/temporal/connect';
import { discoverTemporal } from '../../platform/temporal/discover';
import { installRuntime } from '../../platform/temporal/runtime';
import { CatalogError } from './models/catalog';
import { startWorkflowRuns, type RunningWorkflowRuns } from './start';

/** The bundle that `npm run build` leaves beside the compiled code. */
const codePath = join(__dirname, '..', '..', 'workflow-runs-workflow-bundle.js');

/** Running requests and stages are given this long to end. */
const closeWithinMs = 15_000;

async function main(): Promise<void> {
  const env = environmentOrExit();
  const log = createLog({ name: 'workflow-runs', level: env.LOG_LEVEL });
  const starting = new AbortController();
  let close: () => Promise<void> = () => Promise.resolve();
  endInOrder({
    log,
    withinMs: closeWithinMs,
    close: async () => {
      starting.abort(new Error('The workflow-run service is ending.'));
      await close();
    },
  });
  installRuntime(log);
  const { BOARD_DATA_DIR: dataDir, TEMPORAL_ADDRESS: configured, TEMPORAL_NAMESPACE: namespace } = env;
  const { address } = await discoverTemporal({ configured, dataDir, signal: starting.signal });
  const target = { address, namespace, log, signal: starting.signal };
  const connection = await connectWorker(target);
  const client = await connectClient(target);
  let service: RunningWorkflowRuns;
  try {
    service = await startWorkflowRuns({ env, log, client, connection, workflows: { workflowBundle: { codePath } } });
  } catch (error) {
    log.fatal({ err: error }, 'cannot start');
    process.exit(error instanceof ListenError || error instanceof CatalogError ? configurationErrorExitCode : 1);
  }
  close = async () => {
    await service.close();
    await client.connection.close();
    await connection.close();
  };
  log.info({ url: service.url }, 'listening');
  announceReady();
  await service.ended;
}

void main();
