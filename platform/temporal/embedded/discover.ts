import { setTimeout as delay } from 'node:timers/promises';
import { isSameProcess } from '../../processes/identity';
import { TemporalUnavailableError } from '../unavailable-error';
import { readRuntime, runtimeFile } from './runtime-file';

/** The addresses of a Temporal server, each as `host:port`. */
export interface TemporalAddresses {
  address: string;
  /** Of its HTTP API, where that is configured. */
  httpAddress: string | undefined;
}

export interface DiscoverOptions {
  /** `TEMPORAL_ADDRESS`, which decides when it is set. */
  configured: string | undefined;
  /** `TEMPORAL_HTTP_ADDRESS`, which belongs to it. */
  configuredHttp?: string | undefined;
  /** Where an embedded server stores its address. */
  dataDir: string;
  /** Bound for an embedded server that is being started, in milliseconds. */
  withinMs?: number;
  signal?: AbortSignal;
}

/**
 * The addresses of the Temporal server of this process: the configured ones, else those of the embedded server that runs on
 * the data directory, once it is up.
 *
 * @throws TemporalUnavailableError when there is neither within the bound; the signal's reason when it is aborted
 */
export async function discoverTemporal(options: DiscoverOptions): Promise<TemporalAddresses> {
  const { configured, configuredHttp, dataDir, withinMs = 30_000, signal } = options;
  if (configured) {
    return { address: configured, httpAddress: configuredHttp };
  }
  const deadline = performance.now() + withinMs;
  for (;;) {
    signal?.throwIfAborted();
    const runtime = await readRuntime(dataDir);
    if (runtime && (await isSameProcess(runtime))) {
      return { address: runtime.address, httpAddress: runtime.httpAddress };
    }
    if (performance.now() >= deadline) {
      throw new TemporalUnavailableError(
        `No Temporal server: TEMPORAL_ADDRESS is not set and none runs on the data directory (${runtimeFile(dataDir)}, ` +
          `waited ${withinMs} ms). Set TEMPORAL_ADDRESS, or start all parts together with \`npm start\`.`,
      );
    }
    await delay(100, undefined, { signal }).catch(() => undefined);
  }
}
