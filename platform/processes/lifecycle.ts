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
  /**
   * What is closed after an error that nobody caught, when that is less than everything: what is in memory may be wrong
   * then, and must not be written anywhere.
   */
  drain?: () => Promise<void>;
  /** Interrupted (Ctrl-C) once more while it closes: cuts short what `close` waits for. */
  hurry?: () => void;
  /** After this many milliseconds the process ends without waiting for `close`. */
  withinMs: number;
}

const askingSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** How long a process may drain whose state may be wrong, in milliseconds. */
const drainAfterErrorMs = 5_000;

/**
 * Decides how this process ends; called once by each entry point. Asked to end by a signal, or left behind by its
 * supervisor, it closes and exits with 0. After an error that nobody caught it logs the error, closes within five seconds
 * and exits with 1: what it holds may be wrong, and its supervisor starts it again.
 */
export function endInOrder({ log, close, drain = close, hurry, withinMs }: ShutdownOptions): void {
  let endingSince: number | undefined;
  const end = async (
    reason: string,
    closing: () => Promise<void>,
    limitMs: number,
    exitCode: number,
  ): Promise<void> => {
    endingSince = performance.now();
    log.info({ reason }, 'ending');
    try {
      const closed = closing().then(() => true);
      const inTime = await Promise.race([closed, delay(limitMs, false)]);
      if (!inTime) log.error({ withinMs: limitMs }, 'did not close in time');
      process.exit(inTime ? exitCode : 1);
    } catch (error) {
      log.error({ err: error }, 'closing failed');
      process.exit(1);
    }
  };
  const endOnRequest = (reason: string): void => {
    if (endingSince === undefined) return void end(reason, close, withinMs, 0);
    // A terminal's Ctrl-C may arrive twice, from the terminal and from whoever started us: that is one request.
    if (reason === 'SIGINT' && performance.now() - endingSince > 1_000) hurry?.();
  };
  const fail = (kind: string) => (error: unknown) => {
    log.fatal({ err: error }, kind);
    // While it ends already, for whatever reason, there is nothing more to do in order.
    if (endingSince !== undefined) process.exit(1);
    hurry?.();
    void end(kind, drain, Math.min(withinMs, drainAfterErrorMs), 1);
  };
  for (const signal of askingSignals) process.on(signal, () => endOnRequest(signal));
  process.once('disconnect', () => endOnRequest('the supervisor is gone'));
  // It may have gone before anybody listened. A process without a supervisor has no `send`.
  if (process.send && !process.connected) endOnRequest('the supervisor is gone');
  process.on('uncaughtException', fail('uncaught exception'));
  process.on('unhandledRejection', fail('unhandled rejection'));
}
