import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { Notices } from './notices';
import { restOf } from './spool';

const chunkBytes = 65_536;

export interface TailOptions {
  notices: Notices;
  /** Aborted when nothing is left that could write to the file: its end is then the end of the stream. */
  over: AbortSignal;
  /** The longest the file may become, in bytes; nothing beyond it is read. */
  limitBytes: number;
}

/** Reads a stream of a spool from its beginning on, for as long as it grows, and what did not fit in its file. */
export class Tail extends Readable {
  private file: FileHandle | undefined;
  private position = 0;
  private isComplete = false;

  constructor(
    private readonly path: string,
    private readonly options: TailOptions,
  ) {
    super({ highWaterMark: chunkBytes });
  }

  override _construct(done: (error?: Error | null) => void): void {
    open(this.path, 'r').then(
      (file) => {
        this.file = file;
        done();
      },
      (error: unknown) => done(error as Error),
    );
  }

  override _read(): void {
    this.nextChunk().then(
      (chunk) => this.push(chunk),
      (error: unknown) => this.destroy(error as Error),
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.options.notices.notify(basename(this.path));
    const closed = this.file?.close() ?? Promise.resolve();
    closed.then(
      () => done(error),
      () => done(error),
    );
  }

  /** What follows the file, once; `null` after it, or when there is nothing. */
  private async rest(): Promise<Buffer | null> {
    const rest = this.isComplete ? undefined : await restOf(this.path);
    this.isComplete = true;
    return rest && rest.length > 0 ? rest : null;
  }

  /** `null` at the end. */
  private async nextChunk(): Promise<Buffer | null> {
    const { notices, over, limitBytes } = this.options;
    for (;;) {
      const changed = notices.next(basename(this.path));
      // Asked before the file is read: what was written until then is in it.
      const isOver = over.aborted;
      if (this.destroyed || !this.file) {
        return null;
      }
      const room = Math.min(chunkBytes, limitBytes - this.position);
      const { bytesRead, buffer } = await this.file.read(Buffer.allocUnsafe(room), 0, room, this.position);
      this.position += bytesRead;
      if (bytesRead > 0) {
        return buffer.subarray(0, bytesRead);
      }
      if (isOver) {
        return this.rest();
      }
      await changed;
    }
  }
}
