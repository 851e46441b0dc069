import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../log/log';

/** What a part tells its supervisor when it can do its work. */
export const readyMessage = 'ready';

/** Tells the supervisor, if there is one, that this process can do its work now. */
export function announceReady(): void {
  // A supervisor that has just gone is noticed by the channel it leaves, not by this.
  process.send?.(readyMessage, undefined, undefined, () => undefined);
}

export interface ShutdownOptions {
  log: Log;
  /** Lets go of everything: stops taking work, finishes what it has, closes connections. */
  close: () => Promise<void>;
  /** Interrupted (Ctrl-C) once more while it closes: cuts short what `close` waits for. */
  hurry?: () => void;
  /** After this many milliseconds the process ends without waiting for `close`. */
  withinMs: number;
}

const askingSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Decides how this process ends; called once by each entry point. Asked to end by a signal, or left behind by its
 * supervisor, it closes and exits with 0. An error that nobody caught is logged and the process exits with 1 at once:
 * what it holds may be wrong, and its supervisor starts it again.
 */
export function endInOrder({ log, close, hurry, withinMs }: ShutdownOptions): void {
  let endingSince: number | undefined;
  const end = async (reason: string): Promise<void> => {
    if (endingSince !== undefined) {
      // A terminal's Ctrl-C may arrive twice, from the terminal and from whoever started us: that is one request.
      if (reason === 'SIGINT' && performance.now() - endingSince > 1_000) hurry?.();
      return;
    }
    endingSince = performance.now();
    log.info({ reason }, 'ending');
    try {
      const closed = close().then(() => true);
      const inTime = await Promise.race([closed, delay(withinMs, false)]);
      if (!inTime) log.error({ withinMs }, 'did not close in time');
      process.exit(inTime ? 0 : 1);
    } catch (error) {
      log.error({ err: error }, 'closing failed');
      process.exit(1);
    }
  };
  const fail = (kind: string) => (error: unknown) => {
    log.fatal({ err: error }, kind);
    process.exit(1);
  };
  for (const signal of askingSignals) process.on(signal, () => void end(signal));
  process.once('disconnect', () => void end('the supervisor is gone'));
  // It may have gone before anybody listened. A process without a supervisor has no `send`.
  if (process.send && !process.connected) void end('the supervisor is gone');
  process.once('uncaughtException', fail('uncaught exception'));
  process.once('unhandledRejection', fail('unhandled rejection'));
}
