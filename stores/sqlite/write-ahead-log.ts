import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import PromiseDatabase from 'libsql/promise';
import { errorMessage } from '../../platform/errors/app-error';
import type { Log } from '../../platform/log/log';
import { syncPath } from '../../platform/processes/disk/sync-path';
import { StoreUnavailableError } from '../port/errors';

/** A log that grows beyond `begin` bytes is written back into the database; beyond `force`, writers wait until it is. */
export const checkpointBytes = { keep: 4 * 1_048_576, begin: 8 * 1_048_576, force: 24 * 1_048_576 };
/** How many syncs pass between two looks at the size of the log. */
const syncsPerLook = 16;
/** How long a checkpoint waits for readers and writers of other connections, in milliseconds. */
const checkpointWaitMs = 1_000;

/** What the driver's types leave open. */
interface AsyncStatement {
  all(): Promise<unknown[]>;
}

/**
 * The write-ahead log of the embedded database. SQLite itself writes commits into it without waiting for the disk; here the disk
 * is waited for, and the log written back into the database, without holding up the event loop.
 */
export class WriteAheadLog {
  private handle: FileHandle | undefined;
  private checkpointer: PromiseDatabase | undefined;
  private checkpointing: Promise<void> | undefined;
  private syncs = 0;
  private torn = false;

  constructor(
    private readonly file: string,
    private readonly log: Log,
  ) {}

  /** Whether commits may be missing from the disk that were not acknowledged: nothing is written before `repair`. */
  get isTorn(): boolean {
    return this.torn;
  }

  /**
   * Resolves when everything that was committed before is on the disk.
   *
   * @throws StoreUnavailableError when that is not known
   */
  async sync(): Promise<void> {
    try {
      this.handle ??= await this.open();
      await this.handle.datasync();
    } catch (error) {
      this.torn = true;
      throw new StoreUnavailableError(`The database was not written to its disk: ${errorMessage(error)}`, {
        cause: error,
      });
    }
    this.syncs += 1;
    if (this.syncs % syncsPerLook === 0) {
      this.checkpointing ??= this.checkpointWhenLarge().finally(() => (this.checkpointing = undefined));
    }
  }

  /**
   * Writes the log back into the database and empties it, after a sync that failed: the pages that the system could not write are
   * still what it reads.
   *
   * @throws StoreUnavailableError while that fails too
   */
  async repair(): Promise<void> {
    try {
      if (!(await this.checkpoint('TRUNCATE'))) {
        throw new Error('other processes use the database');
      }
    } catch (error) {
      throw new StoreUnavailableError(`The database cannot be written to its disk: ${errorMessage(error)}`, {
        cause: error,
        changedNothing: true,
      });
    }
    this.torn = false;
    this.log.warn('database written back after its disk failed');
  }

  async close(): Promise<void> {
    await this.checkpointing;
    this.checkpointer?.close();
    await this.handle?.close();
    this.handle = undefined;
  }

  /** The file is there once the database is in use; its name in the folder has to be on the disk as well. */
  private async open(): Promise<FileHandle> {
    const handle = await open(`${this.file}-wal`, 'r+');
    await syncPath(dirname(this.file));
    return handle;
  }

  private async checkpointWhenLarge(): Promise<void> {
    try {
      const { size } = (await this.handle?.stat()) ?? { size: 0 };
      if (size > checkpointBytes.begin) {
        await this.checkpoint(size > checkpointBytes.force ? 'TRUNCATE' : 'PASSIVE');
      }
    } catch (error) {
      this.log.warn({ error: errorMessage(error) }, 'database checkpoint failed');
    }
  }

  /** Whether all of the log could be written back. The connection's own threads do the work. */
  private async checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): Promise<boolean> {
    this.checkpointer ??= new PromiseDatabase(this.file, { timeout: checkpointWaitMs });
    const statement = (await this.checkpointer.prepare(`PRAGMA wal_checkpoint(${mode})`)) as AsyncStatement;
    const [result] = (await statement.all()) as { busy: number }[];
    return result?.busy === 0;
  }
}
