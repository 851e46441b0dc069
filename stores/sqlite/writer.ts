import { setTimeout as delay } from 'node:timers/promises';
import { StoreUnavailableError } from '../port/errors';
import type { Connection } from './connection';
import { isBusy, translateError, type UniqueKeys } from './errors';
import type { WriteAheadLog } from './write-ahead-log';

interface Write {
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  /** Runs several statements that must take effect together or not at all. */
  atomic: boolean;
  /** Changes nothing, and so need not wait for the disk. */
  idle: boolean;
}

/** A write that is committed, or refused, and how its caller learns that once the disk has what was committed before. */
interface Outcome {
  settle: () => void;
  reject: (error: unknown) => void;
}

/** Bounds of one transaction: how many writes it takes, and how long it may block the event loop. */
const maxInBatch = 1_000;
const longestBatchMs = 25;
const retryMs = { least: 1, most: 8 };

/**
 * Group commit: the writes that arrive in one turn of the event loop share a transaction, and the transactions that are committed
 * while the disk is written share the next sync. A write is acknowledged only after its transaction is on disk; others may read it
 * a moment before. The write lock is held for the transaction and not for the sync.
 */
export class Writer {
  private waiting: Write[] = [];
  private committed: Outcome[] = [];
  private flushing = false;
  private syncing = false;
  private closed = false;

  private readonly uniqueKeys: UniqueKeys;
  private readonly patienceMs: number;

  /** @param options.patienceMs how long other processes may hold the write lock before an operation is aborted, in milliseconds */
  constructor(
    private readonly connection: Connection,
    private readonly wal: Pick<WriteAheadLog, 'sync' | 'isTorn' | 'repair'>,
    { uniqueKeys, patienceMs }: { uniqueKeys: UniqueKeys; patienceMs: number },
  ) {
    this.uniqueKeys = uniqueKeys;
    this.patienceMs = patienceMs;
  }

  /**
   * Runs `work` inside a transaction and resolves with its value once that is durable. An error undoes this work alone.
   *
   * @param options.atomic set when `work` changes more than one row
   * @param options.idle set when `work` changes nothing: it resolves as soon as the transaction has ended
   */
  submit<T>(work: () => T, { atomic = false, idle = false } = {}): Promise<T> {
    if (this.closed) {
      return Promise.reject(new StoreUnavailableError('The database is closed.', { changedNothing: true }));
    }
    return new Promise<T>((resolve, reject) => {
      this.waiting.push({ work, resolve: resolve as (value: unknown) => void, reject, atomic, idle });
      if (!this.flushing) {
        this.flushing = true;
        setImmediate(() => void this.flushAll());
      }
    });
  }

  /** Runs `read` now, and again for a while when another process is in the way. */
  async read<T>(read: () => T): Promise<T> {
    const deadline = performance.now() + this.patienceMs;
    for (;;) {
      try {
        return read();
      } catch (error) {
        if (!isBusy(error) || performance.now() >= deadline) {
          throw translateError(error, this.uniqueKeys);
        }
      }
      await delay(retryMs.least + Math.random() * retryMs.most);
    }
  }

  /** Finishes what was submitted and refuses anything new. */
  async close(): Promise<void> {
    this.closed = true;
    while (this.flushing || this.syncing) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  private async flushAll(): Promise<void> {
    let deadline = performance.now() + this.patienceMs;
    while (this.waiting.length > 0) {
      try {
        if (this.wal.isTorn) {
          await this.wal.repair();
        }
        this.connection.execute('BEGIN IMMEDIATE');
      } catch (error) {
        if (isBusy(error) && performance.now() < deadline) {
          await delay(retryMs.least + Math.random() * retryMs.most);
        } else {
          this.failAll(this.waiting.splice(0), error);
        }
        continue;
      }
      this.flush();
      deadline = performance.now() + this.patienceMs;
      if (this.waiting.length > 0) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    this.flushing = false;
  }

  /** One transaction, without giving up the event loop in between: no read of this process sees it half done. */
  private flush(): void {
    const outcomes: Outcome[] = [];
    const idle: Outcome[] = [];
    const taken: Write[] = [];
    const until = performance.now() + longestBatchMs;
    try {
      for (const write of this.waiting) {
        if (taken.length >= maxInBatch || (taken.length > 0 && performance.now() > until)) {
          break;
        }
        taken.push(write);
        (write.idle ? idle : outcomes).push(this.perform(write));
      }
      this.connection.execute('COMMIT');
    } catch (error) {
      if (this.connection.inTransaction) {
        this.connection.execute('ROLLBACK');
      }
      this.waiting.splice(0, taken.length);
      this.failAll(taken, error);
      return;
    }
    this.waiting.splice(0, taken.length);
    idle.forEach(({ settle }) => settle());
    this.committed.push(...outcomes);
    if (!this.syncing && outcomes.length > 0) {
      this.syncing = true;
      void this.syncAll();
    }
  }

  /** What is committed during a sync is in the next one. */
  private async syncAll(): Promise<void> {
    while (this.committed.length > 0) {
      const outcomes = this.committed.splice(0);
      try {
        await this.wal.sync();
      } catch (error) {
        outcomes.forEach(({ reject }) => reject(error));
        continue;
      }
      outcomes.forEach(({ settle }) => settle());
    }
    this.syncing = false;
  }

  /** Does one write inside the open transaction. */
  private perform({ work, resolve, reject, atomic }: Write): Outcome {
    if (atomic) {
      this.connection.run('SAVEPOINT one');
    }
    try {
      const value = work();
      if (atomic) {
        this.connection.run('RELEASE one');
      }
      return { settle: () => resolve(value), reject };
    } catch (error) {
      if (!this.connection.inTransaction) {
        throw error;
      }
      if (atomic) {
        this.connection.run('ROLLBACK TO one');
        this.connection.run('RELEASE one');
      }
      return { settle: () => reject(translateError(error, this.uniqueKeys)), reject };
    }
  }

  private failAll(writes: Write[], cause: unknown): void {
    const error = isBusy(cause)
      ? new StoreUnavailableError(`The database stayed locked for ${this.patienceMs} ms.`, {
          cause,
          changedNothing: true,
        })
      : translateError(cause, this.uniqueKeys);
    for (const write of writes) {
      write.reject(error);
    }
  }
}
