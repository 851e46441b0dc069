import type { AnswerLimits, Cell } from './cells';
import type { TableName } from './tables';

/** What a query's process is asked, once. */
export interface Question {
  sql: string;
  /** The rows of each table as a JSON text, which SQLite reads by itself. */
  tables: Record<TableName, string>;
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
