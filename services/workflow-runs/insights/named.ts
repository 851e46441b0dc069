import { columnsOf, type TableName, tableNames } from './tables';

/** Whether a word is in a text of SQL, quoted or not: SQLite has no escapes that would hide one. */
const holds = (sql: string, word: string): boolean => new RegExp(`\\b${word}\\b`, 'i').test(sql);

/** The tables a query can be about: those whose names it holds. */
export const namedTables = (sql: string): TableName[] => tableNames.filter((name) => holds(sql, name));

/** Columns that are read without their names: by a star, unless it is all that a function is called with, and by natural joins. */
const readsUnnamed = (sql: string): boolean => sql.replace(/\(\s*\*\s*\)/g, '').includes('*') || holds(sql, 'natural');

/**
 * The columns of a table that a query may read, of which it is given no others. What it holds by chance, as in a text or as
 * the column of another table, is among them.
 *
 * @returns indexes in the order of the table; at least one, since rows can be counted
 */
export function namedColumns(sql: string, table: TableName): number[] {
  const all = [...columnsOf(table).keys()];
  if (readsUnnamed(sql)) {
    return all;
  }
  const named = all.filter((at) => holds(sql, columnsOf(table)[at] ?? ''));
  return named.length > 0 ? named : [0];
}
