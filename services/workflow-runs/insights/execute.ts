import Libsql from 'libsql';
import { collectRows } from './cells';
import type { Found, Question } from './messages';
import { assertHarmless } from './program';
import { tableNames, tables } from './tables';

/** What SQLite may take for the tables and all that queries make of them. */
const maxHeapBytes = 268_435_456;

function load(database: Libsql.Database, texts: Question['tables']): void {
  database.exec(`PRAGMA hard_heap_limit = ${maxHeapBytes}`);
  for (const name of tableNames) {
    database.exec(`CREATE TABLE ${name} (${tables[name]})`);
  }
  for (const { name, columns, rows } of texts) {
    const cells = columns.map((_column, at) => `value ->> ${at}`);
    const into = `INSERT INTO ${name} (${columns.join(', ')})`;
    database.prepare(`${into} SELECT ${cells.join(', ')} FROM json_each(?)`).run(rows);
  }
  database.exec('PRAGMA query_only = 1');
}

type ExplainedRow = [address: number, opcode: string, p1: number, p2: number, p3: number, p4: string | null];

/**
 * Runs one query on a database in memory that no other process sees and nothing can be written to. To be called in a process
 * of its own: a query may take any time and memory, and native code cannot be stopped otherwise.
 *
 * @param question its `sql` has passed `assertOneQuery`
 * @throws InvalidQueryError when it might do harm, or finds too much
 * @throws SqliteError with SQLite's message
 */
export function execute({ sql, tables: texts, limits }: Question): Found {
  const database = new Libsql(':memory:');
  load(database, texts);
  const began = performance.now();
  const explained = database.prepare(`EXPLAIN ${sql}`).raw().all() as ExplainedRow[];
  assertHarmless(explained.map(([, opcode, , p2, , p4]) => ({ opcode, p2, p4 })));
  const statement = database.prepare(sql).raw().safeIntegers(true);
  const rows = collectRows(statement.iterate() as Iterable<unknown[]>, limits);
  const columns = statement.columns().map(({ name }) => name);
  return { columns, rows, elapsed: Math.round(performance.now() - began) / 1000 };
}
