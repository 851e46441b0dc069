import { constants } from 'node:fs';
import { type FileHandle, open, readdir, truncate, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turnEnd } from 'node:timers/promises';
import { syncPath } from '../../../platform/processes/disk/sync-path';
import { readWhole } from './files';
import { frameAt, frameHeader, headerSize, nextFrame } from './frames';

const nameOf = (segment: number): string => `log-${String(segment).padStart(10, '0')}`;
const segmentOf = (name: string): number | undefined => {
  const digits = /^log-(\d{10})$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
};

/** The numbers of the log segments in a directory, ascending. */
export async function logSegments(directory: string): Promise<number[]> {
  return (await readdir(directory)).flatMap((name) => segmentOf(name) ?? []).sort((a, b) => a - b);
}

/** Something was wrong with a file, and what was done about it. */
export interface Finding {
  file: string;
  problem: string;
  /** Bytes that could not be used. */
  lostBytes: number;
}

export interface SegmentReading {
  bodies: Buffer[];
  findings: Finding[];
  /** Stretches that were damaged while more follows: to be put aside, not to be dropped. */
  damaged: Buffer[];
}

/**
 * Reads a segment. What was being written when the process died, at the end, is cut off; a damaged stretch in the middle
 * is passed over.
 */
export async function readSegment(directory: string, segment: number): Promise<SegmentReading> {
  const file = join(directory, nameOf(segment));
  const bytes = await readWhole(file);
  const reading: SegmentReading = { bodies: [], findings: [], damaged: [] };
  let at = 0;
  while (at < bytes.length) {
    const body = frameAt(bytes, at);
    if (body) {
      reading.bodies.push(body);
      at += headerSize + body.length;
      continue;
    }
    const next = nextFrame(bytes, at + 1);
    const lostBytes = (next ?? bytes.length) - at;
    if (next === undefined) {
      await truncate(file, at);
      reading.findings.push({
        file: nameOf(segment),
        problem: 'ended in the middle of a write, which was cut off',
        lostBytes,
      });
      break;
    }
    reading.damaged.push(bytes.subarray(at, next));
    reading.findings.push({
      file: nameOf(segment),
      problem: 'is damaged in the middle, which was put aside',
      lostBytes,
    });
    at = next;
  }
  return reading;
}

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Linux writes through to the disk when a file is opened so, which is half the work of a write and a synchronisation.
 * Other systems do not know the flag, or leave the data in the disk's own cache.
 */
const writesThrough = process.platform === 'linux';
const append = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND;

const openSegment = (directory: string, segment: number): Promise<FileHandle> =>
  open(join(directory, nameOf(segment)), writesThrough ? append | constants.O_DSYNC : append);

/**
 * The log that makes writes durable. Many writers share one write to the disk: those that came in one turn of the event
 * loop, and those that come while the write before is under way.
 */
export class Log {
  private pending: Buffer[] = [];
  private waiters: Waiter[] = [];
  private writing: Promise<void> | undefined;
  private failure: Error | undefined;
  /** Bytes in the current segment. */
  size = 0;
  /** Writes to the disk so far, each with what all who waited had added. */
  writes = 0;

  private segment: number;
  private file: FileHandle;
  private readonly onFailure: (error: Error) => void;

  private constructor(
    private readonly directory: string,
    { segment, file, onFailure }: { segment: number; file: FileHandle; onFailure: (error: Error) => void },
  ) {
    this.segment = segment;
    this.file = file;
    this.onFailure = onFailure;
  }

  /** Begins a new segment. */
  static async open(directory: string, segment: number, onFailure: (error: Error) => void): Promise<Log> {
    const file = await openSegment(directory, segment);
    await syncPath(directory);
    return new Log(directory, { segment, file, onFailure });
  }

  /** Adds a frame; it is on disk when the promise resolves, and with it everything added before. */
  append(body: Buffer): Promise<void> {
    if (this.failure) {
      return Promise.reject(this.failure);
    }
    this.pending.push(frameHeader(body), body);
    return new Promise((resolve, reject) => {
      this.waiters.push({ resolve, reject });
      this.writing ??= this.drain();
    });
  }

  private async drain(): Promise<void> {
    await turnEnd();
    while (this.pending.length > 0) {
      const { pending, waiters } = this;
      this.pending = [];
      this.waiters = [];
      try {
        const { bytesWritten } = await this.file.writev(pending);
        const pendingBytes = pending.reduce((total, { length }) => total + length, 0);
        if (bytesWritten !== pendingBytes) {
          throw new Error(`only ${bytesWritten} of ${pendingBytes} bytes could be written`);
        }
        if (!writesThrough) {
          await this.file.datasync();
        }
        this.size += pendingBytes;
        this.writes += 1;
        for (const waiter of waiters) {
          waiter.resolve();
        }
      } catch (error) {
        this.fail(error as Error, [...waiters, ...this.waiters]);
        return;
      }
    }
    this.writing = undefined;
  }

  /** What is in memory is ahead of the disk now, for good: nothing may be written any more. */
  private fail(error: Error, waiters: Waiter[]): void {
    this.failure = error;
    for (const waiter of waiters) {
      waiter.reject(error);
    }
    this.writing = undefined;
    this.pending = [];
    this.waiters = [];
    this.onFailure(error);
  }

  /** Everything added so far is on disk. */
  async settled(): Promise<void> {
    while (this.writing) {
      await this.writing;
    }
    if (this.failure) {
      throw this.failure;
    }
  }

  /** Continues in a new segment, and returns the number of the last one that is complete. */
  async rotate(): Promise<number> {
    await this.settled();
    const next = await openSegment(this.directory, this.segment + 1);
    await syncPath(this.directory);
    // More may have come in while the file was made: it belongs to the segment before.
    await this.settled();
    const complete = this.segment;
    const old = this.file;
    this.file = next;
    this.segment = complete + 1;
    this.size = 0;
    await old.close();
    return complete;
  }

  /** Removes segments up to this one. */
  async removeThrough(last: number): Promise<void> {
    for (const segment of await logSegments(this.directory)) {
      if (segment <= last) {
        await unlink(join(this.directory, nameOf(segment)));
      }
    }
  }

  /** Waits for what is being written, and closes. */
  async close(): Promise<void> {
    while (this.writing) {
      await this.writing;
    }
    await this.file.close();
  }
}
