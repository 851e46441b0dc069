import { claimDataDirectory } from '../../platform/processes/data-directory';
import { listen } from '../../platform/http/server';
import type { Log } from '../../platform/log/log';
import { createApp } from './http/app';
import { Metrics } from './http/metrics';
import type { BitmapSettings } from './settings';
import { Store } from './storage/store';
import { Threads, type ThreadOptions } from './threads/threads';

export interface RunningBitmapServer {
  url: string;
  port: number;
  /** Lets requests finish, writes snapshots, closes. */
  close(): Promise<void>;
}

export interface StartBitmapOptions extends BitmapSettings {
  log: Log;
  /** The disk takes no more writes: the process has to end. */
  onFailure: (error: Error) => void;
  checkpointBytes?: number;
  threadOptions?: Omit<ThreadOptions, 'threads' | 'log'>;
}

/**
 * While large imports are worked on, a request waits to be read for as long as they take: its connection must not count
 * as idle by then.
 */
const keepAliveMs = 75_000;

/**
 * Recovers the data and serves it.
 *
 * @throws ListenError, DataDirectoryInUseError
 */
export async function startBitmapServer(options: StartBitmapOptions): Promise<RunningBitmapServer> {
  const { directory, log, onFailure, checkpointBytes, host, port, token, bodyLimit } = options;
  const threads = Threads.of({ ...options.threadOptions, threads: options.threads, log });
  const release = await claimDataDirectory(directory);
  try {
    const store = await Store.open({ directory, logger: log, onFailure, checkpointBytes });
    const app = createApp({ log, token, store, bodyLimit, threads, metrics: new Metrics() });
    const server = await listen(app, {
      host,
      port,
      setting: 'BITMAP_PORT',
      requestTimeoutMs: 300_000,
      keepAliveMs,
    });
    return {
      url: server.url,
      port: server.port,
      close: async () => {
        await server.close(5_000);
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
