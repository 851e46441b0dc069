import { setTimeout as delay } from 'node:timers/promises';
import PromiseDatabase from 'libsql/promise';
import { withoutWorkspacePrefix } from '../port/workspace-database';
import { isBusy, isTaken, translateError, type UniqueKeys } from './errors';
import type { SchemaObject } from './schema';
import type { WriteAheadLog } from './write-ahead-log';

/** The tables and indexes of a collection, a log or a text index of some name. */
type SchemaOf = (name: string) => SchemaObject[];

/** A collection, log or index whose tables were requested. */
interface Request {
  objects: readonly SchemaObject[];
  resolve: () => void;
  reject: (error: unknown) => void;
}

interface SchemaChangesOptions {
  /** Of the database. */
  file: string;
  /** The names of these that the database does not have. */
  missing: (names: readonly string[]) => Promise<string[]>;
  /** What a connection that writes is configured with. */
  pragmas: () => readonly string[];
  wal: Pick<WriteAheadLog, 'sync' | 'isTorn' | 'repair'>;
  uniqueKeys: UniqueKeys;
  /** How long other processes may hold the write lock, in milliseconds. */
  patienceMs: number;
}

const retryMs = 5;
/** How long its connection is left open for what is requested next, in milliseconds. */
const idleMs = 1_000;
/** How long one statement waits for the write lock, in milliseconds; the waiting is not done by the event loop. */
const lockWaitMs = 100;

/**
 * Makes tables and indexes where they are missing: all that are requested in one turn of the event loop in one transaction, on a
 * thread of the driver. Each transaction that changes the schema makes every connection of every process read all of it again, and
 * each statement reads all of it too, which takes milliseconds where there are tens of workspaces.
 */
export class SchemaChanges {
  private requested: Request[] = [];
  private working: Promise<void> | undefined;
  private connection: PromiseDatabase | undefined;
  private idle: NodeJS.Timeout | undefined;
  /** What workspaces besides the first have, by the names that it has in each of them. */
  private readonly ofWorkspaces = new Map<string, SchemaOf>();
  private readonly workspaces = new Set<string>();

  constructor(private readonly options: SchemaChangesOptions) {}

  /**
   * Resolves once what is called `name` is there. With the first of a workspace everything is made that other workspaces have: it is
   * requested step by step, and would take a transaction for each.
   *
   * @throws DuplicateKeyError when documents that are there have a key in common that is to be unique; StoreUnavailableError
   */
  make(name: string, schemaOf: SchemaOf): Promise<void> {
    const objects = this.objectsOf(name, schemaOf);
    return new Promise((resolve, reject) => {
      this.requested.push({ objects, resolve, reject });
      this.working ??= this.work();
    });
  }

  private objectsOf(name: string, schemaOf: SchemaOf): SchemaObject[] {
    const ownName = withoutWorkspacePrefix(name);
    const prefix = name.slice(0, name.length - ownName.length);
    if (prefix === '') {
      return schemaOf(name);
    }
    this.ofWorkspaces.set(ownName, schemaOf);
    if (this.workspaces.has(prefix)) {
      return schemaOf(name);
    }
    this.workspaces.add(prefix);
    return [...this.ofWorkspaces].flatMap(([each, of]) => of(prefix + each));
  }

  /** Resolves when nothing is being made. */
  async close(): Promise<void> {
    await this.working;
    this.disconnect();
  }

  private async work(): Promise<void> {
    do {
      await new Promise((resolve) => setImmediate(resolve));
      const requests = this.requested.splice(0);
      try {
        await this.makeMissing(requests);
        requests.forEach(({ resolve }) => resolve());
      } catch (error) {
        await this.makeEach(requests, error);
      }
    } while (this.requested.length > 0);
    this.working = undefined;
  }

  /** Finds whose documents contradict an index, for which the others are not to fail; any other reason concerns all of them. */
  private async makeEach(requests: readonly Request[], shared: unknown): Promise<void> {
    const concernsOne = isTaken(shared) && requests.length > 1;
    for (const request of requests) {
      try {
        if (!concernsOne) {
          throw shared;
        }
        await this.makeMissing([request]);
        request.resolve();
      } catch (error) {
        request.reject(translateError(error, this.options.uniqueKeys));
      }
    }
  }

  private async makeMissing(requests: readonly Request[]): Promise<void> {
    const objects = requests.flatMap((request) => request.objects);
    const missing = new Set(await this.options.missing(objects.map(({ name }) => name)));
    const statements = objects.flatMap(({ name, sql }) => (missing.has(name) ? [sql] : []));
    if (statements.length > 0) {
      await this.execute(statements);
    }
  }

  /** Executes them in one transaction, which is on the disk afterwards. */
  private async execute(statements: readonly string[]): Promise<void> {
    const { wal } = this.options;
    if (wal.isTorn) {
      await wal.repair();
    }
    clearTimeout(this.idle);
    try {
      const connection = this.connection ?? (await this.connect());
      await this.patiently(async () => {
        await connection.exec(['BEGIN IMMEDIATE', ...statements, 'COMMIT'].join(';'));
      });
    } catch (error) {
      // What was not committed is undone with it.
      this.disconnect();
      throw error;
    }
    this.idle = setTimeout(() => this.disconnect(), idleMs).unref();
    await wal.sync();
  }

  private async connect(): Promise<PromiseDatabase> {
    const connection = new PromiseDatabase(this.options.file, { timeout: lockWaitMs });
    this.connection = connection;
    await this.patiently(async () => {
      await connection.exec(this.options.pragmas().join(';'));
    });
    return connection;
  }

  private disconnect(): void {
    clearTimeout(this.idle);
    this.connection?.close();
    this.connection = undefined;
  }

  /** Tries again while another connection has the write lock. */
  private async patiently(begin: () => Promise<void>): Promise<void> {
    const deadline = performance.now() + this.options.patienceMs;
    for (;;) {
      try {
        await begin();
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() >= deadline) {
          throw error;
        }
      }
      await delay(retryMs);
    }
  }
}
