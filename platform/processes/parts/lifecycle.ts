import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../log/log';

/** A part's message to its supervisor when it is ready. */
export const readyMessage = 'ready';

/** Notifies the supervisor, if there is one, that this process is ready. */
export function announceReady(): void {
  // A supervisor that has just gone is noticed by the closed channel, not by this.
  process.send?.(readyMessage, undefined, undefined, () => undefined);
}

export interface ShutdownOptions {
  log: Log;
  /** Releases everything: stops taking work, finishes what it has, closes connections. */
  close: () => Promise<void>;
  /**
   * What is closed after an uncaught error, when that is less than everything: what is in memory may be wrong then, and must
   * not be written anywhere.
   */
  drain?: () => Promise<void>;
  /** Interrupted (Ctrl-C) once more while it closes: cuts short what `close` waits for. */
  skipDrain?: () => void;
  /** After this many milliseconds the process ends without waiting for `close`. */
  withinMs: number;
}

const askingSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** How long a process may drain whose state may be wrong, in milliseconds. */
const drainAfterErrorMs = 5_000;

/**
 * Decides how this process ends; called once by each entry point. Ended by a signal, or orphaned by its supervisor, it closes
 * and exits with 0. After an uncaught error it logs the error, closes within five seconds and exits with 1: what it holds may
 * be wrong, and its supervisor starts it again.
 */
export function endInOrder({ log, close, drain = close, skipDrain, withinMs }: ShutdownOptions): void {
  let endingSince: number | undefined;
  const end = async (
    reason: string,
    { closing, limitMs, exitCode }: { closing: () => Promise<void>; limitMs: number; exitCode: number },
  ): Promise<void> => {
    endingSince = performance.now();
    log.info({ reason }, 'shutdown started');
    try {
      const closed = closing().then(() => true);
      const inTime = await Promise.race([closed, delay(limitMs, false)]);
      if (!inTime) {
        log.error({ withinMs: limitMs }, 'shutdown timed out');
      }
      process.exit(inTime ? exitCode : 1);
    } catch (error) {
      log.error({ err: error }, 'close failed');
      process.exit(1);
    }
  };
  const endOnRequest = (reason: string): void => {
    if (endingSince === undefined) {
      return void end(reason, { closing: close, limitMs: withinMs, exitCode: 0 });
    }
    // A terminal's Ctrl-C may arrive twice, from the terminal and from the parent process: that is one request.
    if (reason === 'SIGINT' && performance.now() - endingSince > 1_000) {
      skipDrain?.();
    }
  };
  const fail = (kind: string) => (error: unknown) => {
    log.fatal({ err: error }, kind);
    // While it ends already, for whatever reason, there is nothing more to do in order.
    if (endingSince !== undefined) {
      process.exit(1);
    }
    skipDrain?.();
    void end(kind, { closing: drain, limitMs: Math.min(withinMs, drainAfterErrorMs), exitCode: 1 });
  };
  for (const signal of askingSignals) {
    process.on(signal, () => endOnRequest(signal));
  }
  process.once('disconnect', () => endOnRequest('supervisor lost'));
  // It may have gone before a listener was added. A process without a supervisor has no `send`.
  if (process.send && !process.connected) {
    endOnRequest('supervisor lost');
  }
  process.on('uncaughtException', fail('uncaught exception'));
  process.on('unhandledRejection', fail('unhandled rejection'));
}
