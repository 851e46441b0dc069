import Libsql from 'libsql';
import { StoreUnavailableError } from '../port/errors';

export type Parameter = string | number | null;

interface Statement {
  run(...parameters: Parameter[]): { changes: number };
  get(...parameters: Parameter[]): unknown;
  all(...parameters: Parameter[]): unknown[];
}

/** Enough for every query shape of the code; filters of callers may make more, so the oldest are evicted. */
const maxStatements = 300;
/** The native busy handler blocks the event loop, so it waits this short and the caller waits on without blocking. */
const blockingWaitMs = 5;

/**
 * One connection to the database file, with prepared statements that are reused: preparing again is slow, and statements are
 * freed only when JavaScript collects them.
 */
export class Connection {
  private readonly database: Libsql.Database;
  private readonly statements = new Map<string, Statement>();
  private closed = false;

  constructor(file: string) {
    try {
      this.database = new Libsql(file, { timeout: blockingWaitMs });
    } catch (error) {
      throw new StoreUnavailableError(`The database file ${file} cannot be opened.`, { cause: error });
    }
  }

  /** Runs statements that are not worth caching. */
  execute(sql: string): void {
    this.assertOpen();
    this.database.exec(sql);
  }

  /** Returns the number of rows changed. */
  run(sql: string, ...parameters: Parameter[]): number {
    return this.prepared('run', sql).run(...parameters).changes;
  }

  /** The first row's columns, in the order of the query. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- a query's columns are known where it is written
  row<Row extends unknown[]>(sql: string, ...parameters: Parameter[]): Row | undefined {
    return this.prepared('row', sql).get(...parameters) as Row | undefined;
  }

  rows<Row extends unknown[]>(sql: string, ...parameters: Parameter[]): Row[] {
    return this.prepared('rows', sql).all(...parameters) as Row[];
  }

  get inTransaction(): boolean {
    return !this.closed && this.database.inTransaction;
  }

  close(): void {
    if (this.closed) {
      return;
    }
    this.closed = true;
    this.statements.clear();
    this.database.close();
  }

  private assertOpen(): void {
    if (this.closed) {
      throw new StoreUnavailableError('The database is closed.');
    }
  }

  /** `row` and `rows` never share a statement: in libsql 0.5, `get` finds a stale row after `all` on the same one. */
  private prepared(use: 'run' | 'row' | 'rows', sql: string): Statement {
    this.assertOpen();
    const key = `${use} ${sql}`;
    let statement = this.statements.get(key);
    if (statement) {
      // Most recently used last, so that the first is the one to drop.
      this.statements.delete(key);
    } else {
      const fresh = this.database.prepare(sql);
      statement = use === 'run' ? fresh : fresh.raw();
      const oldest = this.statements.size >= maxStatements ? this.statements.keys().next().value : undefined;
      if (oldest !== undefined) {
        this.statements.delete(oldest);
      }
    }
    this.statements.set(key, statement);
    return statement;
  }
}
