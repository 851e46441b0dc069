import { AsyncLocalStorage } from 'node:async_hooks';
import { createHmac, randomBytes } from 'node:crypto';

export interface OperationStart {
  /** What every id of the operation is derived from: a repetition with the same seed makes the same ids. */
  seed: Buffer;
  /** When the operation was requested first; what it makes carries this time, however often it is repeated. */
  startedAt: Date;
  /** Whether an earlier try may have done part of it. */
  repeated: boolean;
  /** Whether its caller may repeat it under a key. */
  keyed?: boolean;
}

/**
 * One change that a caller requested, as it goes through the stores: which ids it makes, and whether anything has been written
 * yet. Repeated from the same start, it makes the same records, so that none exists twice.
 */
export class Operation {
  private readonly seed: Buffer;
  private readonly time: number;
  readonly repeated: boolean;
  readonly isKeyed: boolean;
  private readonly drawn = new Map<string, number>();
  private readonly made = new Set<string>();
  private ended = false;
  private written = false;
  /** Ids of the traces of rules that warned of the change. */
  readonly warnings = new Set<string>();
  private readonly recordings: Promise<unknown>[] = [];
  private deferred: { error: unknown } | undefined;

  constructor({ seed, startedAt, repeated, keyed = false }: OperationStart) {
    this.seed = seed;
    this.time = startedAt.getTime();
    this.repeated = repeated;
    this.isKeyed = keyed;
  }

  /** Up to 32 bytes, the same for the same `name` and the same number of calls with it before. */
  bytes(name: string, length: number): Buffer {
    const count = this.drawn.get(name) ?? 0;
    this.drawn.set(name, count + 1);
    return createHmac('sha256', this.seed).update(`${name}\n${count}`).digest().subarray(0, length);
  }

  /** Notes an id as one that this operation made. */
  own<T extends string>(id: T): T {
    this.made.add(id);
    return id;
  }

  owns(id: string): boolean {
    return this.made.has(id);
  }

  get startedAt(): Date {
    return new Date(this.time);
  }

  /** Notes a rule that warned of the change, by the trace of its decision. */
  noteWarning(traceId: string): void {
    this.warnings.add(traceId);
  }

  /** Notes a part of the change that is being recorded: the operation does not end before it is, and fails if it cannot be. */
  noteRecording(recorded: Promise<unknown>): void {
    this.recordings.push(recorded.catch((error: unknown) => this.deferFailure(error)));
  }

  /** Resolves once everything that is being recorded has been, or has failed. */
  async recorded(): Promise<void> {
    await Promise.all(this.recordings);
  }

  /** Records that something was, or may have been, written. */
  noteWrite(): void {
    this.written = true;
  }

  /** Whether something may have been written: a failure after this is none that has changed nothing. */
  get mayHaveWritten(): boolean {
    return this.written;
  }

  /** Notes that a part of the change could not be recorded; the change continues, and fails in the end. */
  deferFailure(error: unknown): void {
    this.deferred ??= { error };
  }

  get hasDeferredFailure(): boolean {
    return this.deferred !== undefined;
  }

  /** @throws what was deferred */
  throwDeferred(): void {
    if (this.deferred) {
      throw this.deferred.error;
    }
  }

  /** What is started by an operation and outlives it is no part of it. */
  end(): void {
    this.ended = true;
  }

  get isRunning(): boolean {
    return !this.ended;
  }
}

const running = new AsyncLocalStorage<Operation>();

/** Runs `work` as part of the operation. @throws what `work` throws, or what it deferred */
export async function runOperation<T>(operation: Operation, work: () => Promise<T>): Promise<T> {
  const whole = async (): Promise<T> => {
    try {
      return await work();
    } finally {
      await operation.recorded();
    }
  };
  try {
    const value = await running.run(operation, whole);
    operation.throwDeferred();
    return value;
  } finally {
    operation.end();
  }
}

/** The operation that this code is part of, while it runs. */
export function currentOperation(): Operation | undefined {
  const operation = running.getStore();
  return operation?.isRunning ? operation : undefined;
}

/** The time that what is made now should carry. */
export const operationTime = (): Date => currentOperation()?.startedAt ?? new Date();

/** Random bytes, or those that a repetition of the same operation draws again. */
export const operationBytes = (name: string, length: number): Buffer =>
  currentOperation()?.bytes(name, length) ?? randomBytes(length);

/** `<prefix>_<hex>`: an id for a new record, the same in every repetition of an operation. */
export function newRecordId(prefix: string, bytes = 6): string {
  const id = `${prefix}_${operationBytes(prefix, bytes).toString('hex')}`;
  return currentOperation()?.own(id) ?? id;
}
