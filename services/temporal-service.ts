import type { Client } from '@temporalio/client';
import type { NativeConnection, WorkerOptions } from '@temporalio/worker';
import type { PartEnvironment } from '../platform/config/part-settings';
import { environmentOrExit, orExit } from '../platform/config/process-environment';
import { ListenError } from '../platform/http/server/listen-error';
import { createLog, type Log } from '../platform/log/log';
import { DataDirectoryError } from '../platform/processes/data-directory';
import { awaitSpace } from '../platform/processes/disk/await-space';
import { closeInheritedDescriptors } from '../platform/processes/environment/inherited-descriptors';
import { makeFilesPrivate } from '../platform/processes/operator-umask';
import { announceReady, endInOrder } from '../platform/processes/parts/lifecycle';
import { configurationErrorExitCode } from '../platform/processes/parts/part';
import { connectClient, connectWorker } from '../platform/temporal/connect';
import { discoverTemporal } from '../platform/temporal/embedded/discover';
import { installRuntime } from '../platform/temporal/runtime';
import { temporalSecurity } from '../platform/temporal/security';
import { openTracing } from '../platform/tracing/open';
import { LaterFormatError } from '../stores/port/format';

type ServiceName = 'plants' | 'workflow-runs';

/** What a small service with workflows is started with. */
export interface ServiceParts {
  env: PartEnvironment<ServiceName>;
  log: Log;
  client: Client;
  connection: NativeConnection;
  workflows: Pick<WorkerOptions, 'workflowBundle'>;
}

export interface RunningTemporalService {
  url: string;
  /** Rejects when the worker fails in a way it cannot recover from. */
  ended: Promise<void>;
  close(): Promise<void>;
}

export interface TemporalServiceOptions {
  /** Its name in the log, and the part whose settings it reads. */
  name: ServiceName;
  /** The bundle that `npm run build` leaves beside the compiled code. */
  codePath: string;
  start: (parts: ServiceParts) => Promise<RunningTemporalService>;
  /** Whether a failure to start is its operator's to put right: then it is not started again. */
  isMisconfigured?: (error: unknown) => boolean;
}

/** What only another setting or version would help against. */
const lasting = [DataDirectoryError, ListenError, LaterFormatError];

/** Running requests, and what the worker is at, are given this long to end. */
const closeWithinMs = 15_000;

/** The life of a process that is one small service with workflows: found Temporal, served, ended in order. */
export async function runTemporalService(options: TemporalServiceOptions): Promise<void> {
  makeFilesPrivate();
  const { name, codePath, start, isMisconfigured = () => false } = options;
  const env = environmentOrExit(name);
  closeInheritedDescriptors();
  const security = orExit(() => temporalSecurity(env));
  const log = createLog({ name, level: env.LOG_LEVEL });
  const closeTracing = await openTracing(env, name, log);
  const starting = new AbortController();
  let close: () => Promise<void> = () => Promise.resolve();
  endInOrder({
    log,
    withinMs: closeWithinMs,
    close: async () => {
      starting.abort(new Error('The service is ending.'));
      await close();
      await closeTracing();
    },
  });
  installRuntime(log);
  const { BOARD_DATA_DIR: dataDir, TEMPORAL_ADDRESS: configured, TEMPORAL_NAMESPACE: namespace } = env;
  const failStart = (error: unknown): never => {
    log.fatal({ err: error }, 'start failed');
    const isFinal = lasting.some((kind) => error instanceof kind) || isMisconfigured(error);
    process.exit(isFinal ? configurationErrorExitCode : 1);
  };
  await awaitSpace(dataDir, { log, signal: starting.signal }).catch(failStart);
  const { address } = await discoverTemporal({ configured, dataDir, signal: starting.signal });
  const target = { address, namespace, security, log, signal: starting.signal };
  const connection = await connectWorker(target);
  const client = await connectClient(target);
  const workflows = { workflowBundle: { codePath } };
  const service = await start({ env, log, client, connection, workflows }).catch(failStart);
  close = async () => {
    await service.close();
    await client.connection.close();
    await connection.close();
  };
  log.info({ url: service.url }, 'listening');
  announceReady();
  await service.ended;
}
