import type { Log } from '../log/log';
import { closeAll, type Closer } from '../processes/closers';

/** What is opened when it is first needed, and stays open. */
export interface OpenedOnce<T> {
  /** Rejects as opening it did; then the next call tries again. */
  of(key: string): Promise<T>;
  /** Whether it is open, or being opened. */
  has(key: string): boolean;
  /** Waits for what is being opened, and closes everything. */
  close(): Promise<void>;
}

/**
 * Opens each thing once, however many need it at that moment, and one thing at a time.
 *
 * @param open what it has opened is left to the closers, also when it rejects
 */
export function createOpenedOnce<T>(open: (key: string, closers: Closer[]) => Promise<T>, log: Log): OpenedOnce<T> {
  const opened = new Map<string, Promise<T>>();
  const closers: Closer[] = [];
  let turn: Promise<unknown> = Promise.resolve();
  let closed = false;

  async function openOne(key: string): Promise<T> {
    if (closed) {
      throw new Error(`${key} is not opened any more: the process is ending.`);
    }
    const own: Closer[] = [];
    try {
      const value = await open(key, own);
      closers.push(() => closeAll(own, log));
      return value;
    } catch (error) {
      await closeAll(own, log);
      throw error;
    }
  }

  return {
    of(key) {
      const known = opened.get(key);
      if (known) {
        return known;
      }
      const opening = turn.then(() => openOne(key));
      turn = opening.catch(() => opened.delete(key));
      opened.set(key, opening);
      return opening;
    },
    has: (key) => opened.has(key),
    async close() {
      closed = true;
      await turn;
      await closeAll(closers, log);
    },
  };
}
