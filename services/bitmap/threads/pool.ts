import type { Worker } from 'node:worker_threads';
import type { Log } from '../../../platform/log/log';
import type { Copy } from './copies';
import { type Counted, CountExpiredError, type SegmentWork } from './counting';
import type { Done, Task } from './messages';

/** A piece of work that loses its thread so often is done on the main thread. */
const maxTries = 2;
/** So many threads that end one after the other without a response, and there are no more. */
const maxFailures = 4;

/** What is to be counted at once. */
export interface Work {
  work: readonly SegmentWork[];
  /** By number, all that the work names. */
  copies: ReadonlyMap<number, Copy>;
  /** When it is given up, in milliseconds since 1970. */
  until: number;
}

interface Piece extends Work {
  tries: number;
  resolve: (counted: Counted) => void;
  reject: (error: Error) => void;
}

interface Thread {
  worker: Worker;
  piece: Piece | undefined;
  /** What it has been sent, and holds. */
  known: Map<number, Copy>;
  /** The copies it was asked to drop with its current piece. */
  dropping: Copy[];
}

export interface PoolOptions {
  /** How many threads there are at most. */
  threads: number;
  startThread: () => Worker;
  /** Does a piece on the main thread. */
  countHere: (work: Work) => Counted;
  /** Threads end when there was nothing to do for so long. */
  idleMs: number;
  onIdle: () => void;
  log: Log;
}

/** The server is ending. */
class ClosedError extends Error {
  override readonly name = 'ClosedError';
}

/**
 * Threads that are started when there is work, and do one piece each at a time. A piece whose thread dies is done by
 * another one, or on the main thread: none is lost.
 */
export class Pool {
  private readonly threads = new Set<Thread>();
  private readonly queue: Piece[] = [];
  private failures = 0;
  private closed = false;
  private idleTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: PoolOptions) {}

  /** Whether threads can be had at all. */
  get isWorking(): boolean {
    return !this.closed && this.failures < maxFailures;
  }

  /** How many threads there are now. */
  get size(): number {
    return this.threads.size;
  }

  /** How many threads have nothing to do, or could be started. */
  get idle(): number {
    let busy = 0;
    for (const { piece } of this.threads) {
      if (piece) {
        busy += 1;
      }
    }
    return this.options.threads - busy;
  }

  /** @throws ClosedError when the pool is closed before it is done, CountExpiredError when it takes too long */
  run(work: Work): Promise<Counted> {
    clearTimeout(this.idleTimer);
    return new Promise<Counted>((resolve, reject) => {
      this.queue.push({ ...work, tries: 0, resolve, reject });
      this.assign();
    });
  }

  /** Ends all threads. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.idleTimer);
    const pieces = [...[...this.threads].flatMap(({ piece }) => piece ?? []), ...this.queue.splice(0)];
    await this.endThreads();
    for (const { reject } of pieces) {
      reject(new ClosedError('the server is ending'));
    }
  }

  private assign(): void {
    this.distribute();
    if (!this.closed && this.idle === this.options.threads) {
      this.endWhenIdle();
    }
  }

  private distribute(): void {
    while (this.queue.length > 0 && this.isWorking) {
      const thread = this.idleThread();
      const piece = thread && this.queue.shift();
      if (!piece) {
        break;
      }
      this.send(thread, piece);
    }
    if (!this.isWorking) {
      this.doHere(this.queue.splice(0));
    }
  }

  private idleThread(): Thread | undefined {
    for (const thread of this.threads) {
      if (!thread.piece) {
        return thread;
      }
    }
    return this.threads.size < this.options.threads ? this.start() : undefined;
  }

  private start(): Thread | undefined {
    let worker: Worker;
    try {
      worker = this.options.startThread();
    } catch (error) {
      this.options.log.error({ err: error }, 'bitmap index thread start failed');
      this.failures = maxFailures;
      return undefined;
    }
    const thread: Thread = { worker, piece: undefined, known: new Map(), dropping: [] };
    this.threads.add(thread);
    worker.on('message', (done: Done) => this.done(thread, done));
    worker.on('error', (error) => this.options.log.error({ err: error }, 'bitmap index thread failed'));
    worker.on('exit', () => this.gone(thread));
    return thread;
  }

  private send(thread: Thread, piece: Piece): void {
    thread.piece = piece;
    const { known } = thread;
    for (const copy of known.values()) {
      if (!copy.isOutdated || piece.copies.has(copy.id)) {
        continue;
      }
      known.delete(copy.id);
      thread.dropping.push(copy);
    }
    const add: [number, Uint8Array][] = [];
    for (const copy of piece.copies.values()) {
      if (known.has(copy.id)) {
        continue;
      }
      copy.hold();
      known.set(copy.id, copy);
      add.push([copy.id, copy.bytes]);
    }
    const drop = thread.dropping.map(({ id }) => id);
    thread.worker.postMessage({ add, drop, work: piece.work, until: piece.until } satisfies Task);
  }

  private done(thread: Thread, counted: Done): void {
    const { piece } = thread;
    thread.piece = undefined;
    for (const copy of thread.dropping.splice(0)) {
      copy.release();
    }
    this.failures = 0;
    if (counted === 'expired') {
      piece?.reject(new CountExpiredError());
    } else {
      piece?.resolve(counted);
    }
    this.assign();
  }

  private gone(thread: Thread): void {
    for (const copy of [...thread.dropping.splice(0), ...thread.known.values()]) {
      copy.release();
    }
    thread.known.clear();
    // One that was ended on purpose is not in the list any more.
    if (!this.threads.delete(thread)) {
      return;
    }
    this.failures += 1;
    this.options.log.error({ failures: this.failures }, 'bitmap index thread ended');
    const { piece } = thread;
    if (piece) {
      piece.tries += 1;
      if (piece.tries < maxTries) {
        this.queue.unshift(piece);
      } else {
        this.doHere([piece]);
      }
    }
    this.assign();
  }

  private doHere(pieces: readonly Piece[]): void {
    for (const { resolve, reject, ...work } of pieces) {
      try {
        resolve(this.options.countHere(work));
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }

  private endWhenIdle(): void {
    clearTimeout(this.idleTimer);
    this.idleTimer = setTimeout(() => {
      void this.endThreads();
      this.options.onIdle();
    }, this.options.idleMs).unref();
  }

  private async endThreads(): Promise<void> {
    const threads = [...this.threads];
    this.threads.clear();
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }
}
