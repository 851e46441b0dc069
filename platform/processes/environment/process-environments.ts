import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { ofEachProcess } from '../process-table';

/** A variable of the environment that identifies the processes of one agent. */
export interface ProcessMarker {
  name: string;
  value: string;
}

/** Reused for each process: most of what one read costs is a buffer for it. Larger environments are read whole. */
const space = Buffer.allocUnsafeSlow(256 * 1_024);

/**
 * The environment that a process was started with, until the next call; empty where it cannot be read: outside Linux, of a
 * process this user may not inspect, or of one that is about to be gone.
 */
export function environmentOf(pid: number): Buffer {
  const path = `/proc/${pid}/environ`;
  try {
    const file = openSync(path, 'r');
    try {
      const length = readSync(file, space);
      return length === space.length ? readFileSync(path) : space.subarray(0, length);
    } finally {
      closeSync(file);
    }
  } catch {
    return Buffer.alloc(0);
  }
}

/** Whether an environment has a variable with exactly this value. */
export function environmentHolds(environment: Buffer, { name, value }: ProcessMarker): boolean {
  const entry = Buffer.from(`${name}=${value}`);
  for (let at = environment.indexOf(entry); at >= 0; at = environment.indexOf(entry, at + 1)) {
    const after = at + entry.length;
    if ((at === 0 || environment[at - 1] === 0) && (after === environment.length || environment[after] === 0)) {
      return true;
    }
  }
  return false;
}

interface Search {
  look: (pid: number, environment: Buffer) => void;
  resolve: () => void;
  reject: (error: unknown) => void;
}

let waiting: Search[] = [];
let searching = false;

/**
 * What `read` finds of each process whose environment can be seen, without those it finds nothing of. Searches that are asked
 * for while one is under way share the next one: it begins after each of them was asked for, and so finds whatever ran then.
 *
 * @param read is given an environment that is another process's after it has returned
 */
export function searchEnvironments<T>(read: (pid: number, environment: Buffer) => T | undefined): Promise<T[]> {
  return new Promise((resolve, reject) => {
    const found: T[] = [];
    const fail = (error: unknown): void => reject(error instanceof Error ? error : new Error(String(error)));
    waiting.push({
      look: (pid, environment) => {
        try {
          const one = read(pid, environment);
          if (one !== undefined) {
            found.push(one);
          }
        } catch (error) {
          fail(error);
        }
      },
      resolve: () => resolve(found),
      reject: fail,
    });
    if (!searching) {
      searching = true;
      void searchAll();
    }
  });
}

async function searchAll(): Promise<void> {
  while (waiting.length > 0) {
    const searches = waiting;
    waiting = [];
    try {
      await ofEachProcess((pid) => {
        const environment = environmentOf(pid);
        if (environment.length > 0) {
          searches.forEach(({ look }) => look(pid, environment));
        }
        return undefined;
      });
      searches.forEach((search) => search.resolve());
    } catch (error) {
      searches.forEach((search) => search.reject(error));
    }
  }
  searching = false;
}
