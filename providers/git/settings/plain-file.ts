import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';

/**
 * Reads a small file of git's. An agent may have replaced it by anything: a pipe is not waited for.
 *
 * @param options.most the most bytes it may have
 * @returns `null` when there is nothing at the path, `undefined` when it is no file that is read here
 */
export function readPlainFile(path: string, { most }: { most: number }): Buffer | null | undefined {
  try {
    if (isAbsent(path)) {
      return null;
    }
    const handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const facts = fstatSync(handle);
      if (!facts.isFile() || facts.size > most) {
        return undefined;
      }
      const buffer = Buffer.allocUnsafe(facts.size + 1);
      const length = readSync(handle, buffer, 0, buffer.length, 0);
      return length === facts.size ? buffer.subarray(0, length) : undefined;
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return isMissing && !factsOf(path) ? null : undefined;
  }
}

/** Whether nothing is in a directory that is there, for less than half of what an error of `openSync` costs. */
const isAbsent = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false }) === undefined &&
  statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() === true;

/** What is at a path itself; `undefined` for nothing, and for what cannot be inspected. */
export function factsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** What is in a directory; nothing in one that is not there, `undefined` where it cannot be listed. */
export function entriesOf(directory: string): Dirent[] | undefined {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? [] : undefined;
  }
}
