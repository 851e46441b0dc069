import { setTimeout as delay } from 'node:timers/promises';
import { isSameProcess } from '../processes/identity';
import { readRuntime, runtimeFile } from './runtime-file';
import { TemporalUnavailableError } from './unavailable-error';

export interface DiscoverOptions {
  /** `TEMPORAL_ADDRESS`, which decides when it is set. */
  configured: string | undefined;
  /** Where an embedded server leaves its address. */
  dataDir: string;
  /** Bound for an embedded server that is being started, in milliseconds. */
  withinMs?: number;
  signal?: AbortSignal;
}

/**
 * The address of the Temporal server of this process: the configured one, else that of the embedded server that runs on
 * the data directory, once it is up.
 *
 * @returns `host:port`
 * @throws TemporalUnavailableError when there is neither within the bound; the signal's reason when it is aborted
 */
export async function discoverTemporal(options: DiscoverOptions): Promise<string> {
  const { configured, dataDir, withinMs = 30_000, signal } = options;
  if (configured) return configured;
  const deadline = performance.now() + withinMs;
  for (;;) {
    signal?.throwIfAborted();
    const runtime = await readRuntime(dataDir);
    if (runtime && (await isSameProcess(runtime))) return runtime.address;
    if (performance.now() >= deadline) {
      throw new TemporalUnavailableError(
        `No Temporal server: TEMPORAL_ADDRESS is not set and none runs on the data directory (${runtimeFile(dataDir)}, ` +
          `waited ${withinMs} ms). Set TEMPORAL_ADDRESS, or start all parts together with \`npm start\`.`,
      );
    }
    await delay(100, undefined, { signal }).catch(() => undefined);
  }
}
