import type { AnswerLimits, Cell } from './cells';
import type { TableName } from './tables';

export interface TableText {
  name: TableName;
  /** Those that the query may read, in the order of the cells of a row; the others are empty. */
  columns: string[];
  /** A JSON text of arrays, which SQLite reads by itself. */
  rows: string;
}

/** What a query's process is asked, once. */
export interface Question {
  sql: string;
  /** The rows of the tables that it can be about. */
  tables: TableText[];
  limits: AnswerLimits;
  /** The process ends itself after so long, also when its parent is gone. */
  endWithinMs: number;
}

export interface Found {
  columns: string[];
  rows: Cell[][];
  /** Seconds that the query itself took. */
  elapsed: number;
}

/** The response: the rows of the query, or why it is refused. */
export type Outcome = Found | { refused: string };
