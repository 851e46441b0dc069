import { createAuthFailures } from '../../platform/http/auth/auth-failures';
import { callerAddressBehind } from '../../platform/http/limits/caller-address';
import { listen } from '../../platform/http/server/server';
import type { Log } from '../../platform/log/log';
import { claimDataDirectory } from '../../platform/processes/data-directory';
import { awaitSpace } from '../../platform/processes/disk/await-space';
import { bitmapKindName } from './bitmaps/kind';
import { createApp } from './http/app';
import { createGate } from './http/gate';
import { Metrics } from './http/metrics';
import { bitmapRefusalBody } from './http/reply';
import { defaultLimits, type QueryLimits } from './query/limits';
import { Slices } from './query/slices';
import type { BitmapSettings } from './settings';
import { Store } from './storage/store';
import { type ThreadOptions, Threads } from './threads/threads';

export interface RunningBitmapServer {
  url: string;
  port: number;
  /** Lets requests finish, and accepts no more of them: nothing is written but what they do. */
  drain(): Promise<void>;
  /** Drains, writes snapshots, closes. */
  close(): Promise<void>;
}

export interface StartBitmapOptions extends BitmapSettings {
  log: Log;
  /** The disk takes no more writes: the process has to end. */
  onFailure: (error: Error) => void;
  checkpointBytes?: number;
  threadOptions?: Omit<ThreadOptions, 'threads' | 'log'>;
  /** Beside the setting of how long queries may take; tests lower them. */
  limits?: Partial<QueryLimits>;
  /** How many queries may be under way that take long. */
  maxLongQueries?: number;
}

/** While large imports are worked on, headers that have come wait to be read for as long as they take. */
const headersTimeoutMs = 75_000;

/** How long running requests may take once the server ends, in milliseconds. */
const drainMs = 5_000;

/**
 * Recovers the data and serves it.
 *
 * @throws ListenError, DataDirectoryInUseError
 */
export async function startBitmapServer(options: StartBitmapOptions): Promise<RunningBitmapServer> {
  const { directory, log, onFailure, checkpointBytes, host, port, token, bodyLimit } = options;
  if (bitmapKindName === 'plain') {
    log.warn({ package: 'roaring' }, 'native bitmaps are not installed, slower ones in use');
  }
  const threads = Threads.of({ ...options.threadOptions, threads: options.threads, log });
  await awaitSpace(directory, { log });
  const release = await claimDataDirectory(directory);
  try {
    const store = await Store.open({ directory, logger: log, onFailure, checkpointBytes });
    const authFailures = createAuthFailures({
      limit: options.maxAuthFailures,
      addressOf: callerAddressBehind(options.trustedProxies),
      report: (failure) => log.warn(failure, 'authentication failed'),
    });
    const gate = createGate(token, authFailures);
    const limits = { ...defaultLimits, ms: options.queryTimeoutMs, ...options.limits };
    const slices = new Slices(options.maxLongQueries);
    const app = createApp({ log, gate, store, bodyLimit, threads, slices, limits, metrics: new Metrics() });
    const server = await listen(app, {
      host,
      port,
      setting: 'BITMAP_PORT',
      requestTimeoutMs: 300_000,
      headersTimeoutMs,
      refusalBody: bitmapRefusalBody,
      log,
    });
    return {
      url: server.url,
      port: server.port,
      drain: () => server.close(drainMs),
      close: async () => {
        await server.close(drainMs);
        await threads?.close();
        await store.close();
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}
