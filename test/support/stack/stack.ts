import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { type RunningApi, startApi } from '../../../api/start';
import { type Environment, readEnvironment } from '../../../platform/config/env';
import { retryUntilClosed } from '../../../platform/temporal/closed-connection';
import { makeTempDir } from '../../../platform/testing/temp-dir';
import { type RunningWorker, startWorker, type WorkerCode } from '../../../worker/start';
import { Caller } from '../caller';
import { mongoSettings } from '../mongo-settings';
import { testSettings } from '../settings';
import { watchedLog } from '../watched-log';
import { registerNamespace, stackServer } from './own-namespace';
import { workflowBundle } from './workflow-bundle';

/** A whole service in this process, with a namespace of Temporal and a data directory of its own. */
export interface Stack {
  url: string;
  dir: string;
  env: Environment;
  temporal: Client;
  call: Caller;
  worker: RunningWorker;
  /** Starts another worker on the same data, or with these settings. */
  anotherWorker(settings?: Record<string, string>): Promise<RunningWorker>;
  /** Starts another replica of the api on the same data. */
  anotherApi(): Promise<RunningApi>;
  close(): Promise<void>;
}

export async function startStack(
  settings: Record<string, string> = {},
  code: Pick<WorkerCode, 'providers' | 'registry'> = {},
): Promise<Stack> {
  const dir = await makeTempDir('stack');
  const { log, assertSound } = watchedLog(process.env.TEST_LOG_LEVEL ?? 'error');
  const closers: (() => Promise<unknown>)[] = [() => dir.remove()];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) {
      await closer();
    }
    assertSound();
  };
  try {
    const server = await stackServer({ dir: dir.path, log });
    closers.push(() => server.close());
    const connection = Connection.lazy({ address: server.address, interceptors: retryUntilClosed });
    closers.push(() => connection.close());
    const namespace = await registerNamespace(connection);
    const temporal = new Client({ connection, namespace });
    const given: Record<string, string> = {
      ...testSettings,
      BOARD_PORT: '0',
      NODE_ENV: 'test',
      BOARD_DATA_DIR: join(dir.path, 'data'),
      TEMPORAL_ADDRESS: server.address,
      TEMPORAL_HTTP_ADDRESS: server.httpAddress,
      TEMPORAL_NAMESPACE: namespace,
      ...mongoSettings(),
      ...settings,
    };
    const env = readEnvironment(given);
    const anotherApi = async () => {
      const api = await startApi(env, log, { client: temporal, registry: code.registry });
      closers.push(() => api.close());
      return api;
    };
    const anotherWorker = async (changed: Record<string, string> = {}) => {
      const others = readEnvironment({ ...given, ...changed });
      const worker = await startWorker(others, log, { workflowBundle, ...code });
      closers.push(() => worker.close());
      return worker;
    };
    const { url } = await anotherApi();
    given.BOARD_TOOL_BRIDGE_URL = url;
    const worker = await anotherWorker();
    return { url, dir: dir.path, env, temporal, call: new Caller(url), worker, anotherWorker, anotherApi, close };
  } catch (error) {
    await close();
    throw error;
  }
}
