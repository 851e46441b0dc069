import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../log/log';
import { type Backoff, backoffMs, failuresAfterServing } from '../backoff';
import type { ProcessEnd } from '../child';
import { configurationErrorExitCode, type Part, type RunningPart } from './part';

export interface KeepOptions {
  log: Log;
  backoff: Backoff;
  /** Having served this long, in milliseconds, a part counts as healthy: its next death is the first in a row again. */
  healthyAfterMs: number;
  graceMs: number;
}

/** A part that is started again whenever it dies. */
export interface SupervisedPart {
  name: string;
  /** Process id, of the last process while none runs. */
  pid(): number;
  /** Ends it for good; resolves when it has ended. */
  stop(): Promise<void>;
  /** Resolves when it will not be started again: it was stopped, or its configuration is wrong. */
  ended: Promise<ProcessEnd>;
}

/**
 * Starts a part and restarts it until it is stopped.
 *
 * @throws whatever the first start throws; later ones are tried again
 */
export async function superviseProcess(part: Part, options: KeepOptions): Promise<SupervisedPart> {
  const { log, backoff, healthyAfterMs, graceMs } = options;
  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  let running = await part.start();
  let startedAt = performance.now();
  let failures = 0;

  const follow = async (): Promise<ProcessEnd> => {
    for (;;) {
      const end = await running.exited;
      if (isStopping() || end.code === configurationErrorExitCode) {
        return end;
      }
      const servingSince = running.servingSince ? running.servingSince() : startedAt;
      const servedMs = servingSince === undefined ? 0 : performance.now() - servingSince;
      failures = failuresAfterServing(failures, servedMs, healthyAfterMs);
      log.warn({ part: part.name, ...end }, 'part ended');
      const next = await startAgain();
      if (!next) {
        return end;
      }
      running = next;
      startedAt = performance.now();
    }
  };

  const startAgain = async (): Promise<RunningPart | undefined> => {
    for (;;) {
      failures += 1;
      await delay(backoffMs(failures, backoff), undefined, { signal: stopping.signal }).catch(() => undefined);
      if (isStopping()) {
        return undefined;
      }
      try {
        const started = await part.start();
        log.info({ part: part.name, partPid: started.pid, failures }, 'part restarted');
        // A stop was requested while it was starting: no other code references this process yet.
        if (isStopping()) {
          await started.stop(graceMs);
        }
        return started;
      } catch (error) {
        log.error({ part: part.name, err: error, failures }, 'part start failed');
      }
    }
  };

  const ended = follow();
  return {
    name: part.name,
    pid: () => running.pid,
    ended,
    stop: async () => {
      stopping.abort();
      await running.stop(graceMs);
      await ended;
    },
  };
}
