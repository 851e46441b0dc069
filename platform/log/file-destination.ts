import { fstatSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type pino from 'pino';
import { isDiskFull } from '../errors/disk-full';

/** How much is buffered in memory while the disk of the log is full, in bytes. */
const maxKept = 262_144;
/** How often it is tried then to write it, in milliseconds, should nothing more be logged. */
const tryEveryMs = 1_000;

/** Whether it is a regular file: only those can be on a full disk. */
export const isFile = (descriptor: number): boolean => fstatSync(descriptor).isFile();

/** Opens a file for appending, and makes its directory. */
export function openLogFile(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return openSync(path, 'a', 0o600);
}

/**
 * Writes lines to a file, each at once. While its disk is full the first 256 KiB are buffered and written, from the byte on
 * that was missing, when there is space; what is logged beyond that is lost, and counted. Pino's own destination raises an
 * uncaught error then, and waits for space without end in `fatal` and at exit.
 *
 * @throws the system's error for any other failure
 */
export function fileDestination(descriptor: number): pino.DestinationStream {
  const state = { kept: Buffer.alloc(0), lost: 0, timer: undefined as NodeJS.Timeout | undefined };

  /** @returns whether everything that was buffered is written */
  const writeKept = (): boolean => {
    try {
      while (state.kept.length > 0) {
        state.kept = state.kept.subarray(writeSync(descriptor, state.kept));
      }
    } catch (error) {
      if (!isDiskFull(error)) {
        throw error;
      }
      return false;
    }
    if (state.lost > 0) {
      const text = {
        level: 'warn',
        time: new Date().toISOString(),
        lost: state.lost,
        msg: 'the disk of the log was full',
      };
      state.lost = 0;
      state.kept = Buffer.from(`${JSON.stringify(text)}\n`);
      return writeKept();
    }
    return true;
  };

  const retryWrites = (): void => {
    if (state.timer) {
      return;
    }
    state.timer = setInterval(() => {
      if (!writeKept()) {
        return;
      }
      clearInterval(state.timer);
      state.timer = undefined;
    }, tryEveryMs).unref();
  };

  return {
    write(line) {
      const bytes = Buffer.from(line);
      if (state.kept.length + bytes.length > maxKept && state.kept.length > 0) {
        state.lost += 1;
      } else {
        state.kept = state.kept.length === 0 ? bytes : Buffer.concat([state.kept, bytes]);
      }
      if (!writeKept()) {
        retryWrites();
      }
    },
  };
}
