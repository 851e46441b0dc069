import { mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A lock that is a directory of files, each named by the sequence of a holder: the highest one has it. Files are made and
 * never written over, so a holder that was asleep cannot take it back from a later one, at whatever point it wakes.
 */
export interface SequenceLock {
  /** Absolute. */
  dir: string;
  /** Issued by the stores, higher each time. */
  sequence: number;
}

const digits = 12;
const fileOf = ({ dir, sequence }: SequenceLock): string => join(dir, String(sequence).padStart(digits, '0'));

/** The highest sequence that has taken the lock; 0 when none has. */
export function newestSequence(dir: string): number {
  try {
    return Math.max(0, ...readdirSync(dir).map(Number).filter(Number.isSafeInteger));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return 0;
    }
    throw error;
  }
}

/** Whether no holder with a higher sequence has taken the lock. One whose file is gone does not hold it. */
export const holdsSequenceLock = (lock: SequenceLock): boolean => newestSequence(lock.dir) === lock.sequence;

/**
 * Takes the lock unless a holder with a higher sequence has it.
 *
 * @param holder its owner, for a person who inspects it
 * @returns whether it was taken
 */
export function takeSequenceLock(lock: SequenceLock, holder: object): boolean {
  const { dir, sequence } = lock;
  if (newestSequence(dir) >= sequence) {
    return holdsSequenceLock(lock);
  }
  writeLock(lock, `${JSON.stringify({ sequence, ...holder })}\n`);
  if (!holdsSequenceLock(lock)) {
    rmSync(fileOf(lock), { force: true });
    return false;
  }
  for (const name of readdirSync(dir)) {
    if (Number(name) < sequence) {
      rmSync(join(dir, name), { force: true });
    }
  }
  return true;
}

/** How often the directory is made again when it is removed between that and the file. */
const tries = 5;

function writeLock(lock: SequenceLock, text: string): void {
  for (let attempt = 1; ; attempt += 1) {
    mkdirSync(lock.dir, { recursive: true, mode: 0o700 });
    try {
      writeFileSync(fileOf(lock), text, { flag: 'wx', mode: 0o600 });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === tries) {
        throw error;
      }
    }
  }
}

/**
 * Removes an unused lock. Only the files that existed before `isUnused` was called are removed, and the directory only when it
 * is empty: a holder that takes the lock meanwhile retains it. An earlier holder whose file is gone does not hold the lock.
 *
 * @param isUnused whether every holder that has taken the lock by now is refused by the stores
 * @returns whether it was removed
 */
export async function removeSequenceLock(dir: string, isUnused: () => Promise<boolean>): Promise<boolean> {
  const names = readdirSync(dir);
  if (!(await isUnused())) {
    return false;
  }
  for (const name of names) {
    rmSync(join(dir, name), { recursive: true, force: true });
  }
  try {
    rmdirSync(dir);
    return true;
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      throw error;
    }
    return false;
  }
}
