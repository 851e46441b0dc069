import type { Log } from '../../log/log';
import type { Backoff } from '../backoff';
import { configurationErrorExitCode, type Part } from './part';
import { type SupervisedPart, superviseProcess } from './supervise-process';

export interface SuperviseOptions {
  log: Log;
  /** How long a part may take to end in order, in milliseconds. */
  graceMs?: number;
  backoff?: Backoff;
  /** See `KeepOptions`. */
  healthyAfterMs?: number;
  /** Stops the starting: what has started ends again, and the call rejects with its reason. */
  signal?: AbortSignal;
}

export interface Supervision {
  /** Process id of each part by name. */
  pids(): Record<string, number>;
  /** The part that has ended first because its configuration is wrong, and with it all others. */
  misconfigured(): string | undefined;
  /** Ends all parts, the last one started first. Safe to call twice. */
  stop(): Promise<void>;
  /** Resolves when all parts have ended, with the exit code for this process: 0, or 2 for a wrong configuration. */
  ended: Promise<number>;
}

/** Callers of the api wait for its next process: the pause before it is short, however often it has died. */
export const usualRestart = { backoff: { firstMs: 200, maxMs: 5_000 }, healthyAfterMs: 5_000 } as const;

/**
 * Starts the parts in order and restarts each until stopped. A part that ends with exit code 2 takes all others with it: its
 * configuration is wrong and must be seen.
 *
 * @throws whatever a first start throws, after the parts started before it have ended
 */
export async function supervise(parts: readonly Part[], options: SuperviseOptions): Promise<Supervision> {
  const { log, graceMs = 15_000, healthyAfterMs = usualRestart.healthyAfterMs, signal } = options;
  const backoff = options.backoff ?? usualRestart.backoff;
  const supervised: SupervisedPart[] = [];
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= endInReverse(supervised));

  try {
    for (const part of parts) {
      signal?.throwIfAborted();
      const keptPart = await superviseProcess(part, { log, backoff, healthyAfterMs, graceMs });
      supervised.push(keptPart);
      log.debug({ part: part.name, partPid: keptPart.pid() }, 'part started');
    }
    signal?.throwIfAborted();
  } catch (error) {
    await stop();
    throw error;
  }

  let misconfigured: string | undefined;
  const exitCodes = supervised.map(async (part) => {
    const { code } = await part.ended;
    if (code !== configurationErrorExitCode) {
      return 0;
    }
    misconfigured ??= part.name;
    log.fatal({ part: part.name }, 'configuration invalid, shutting down');
    await stop();
    return configurationErrorExitCode;
  });
  const ended = Promise.all(exitCodes).then((codes) => Math.max(0, ...codes));
  return {
    pids: () => Object.fromEntries(supervised.map((part) => [part.name, part.pid()])),
    misconfigured: () => misconfigured,
    stop,
    ended,
  };
}

async function endInReverse(parts: readonly SupervisedPart[]): Promise<void> {
  for (const part of parts.toReversed()) {
    await part.stop();
  }
}
