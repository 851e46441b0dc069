import type { Connection } from './connection';
import { logTables } from './log';
import { identifier, valueOf } from './schema';
import type { Writer } from './writer';

/** Rows that one write removes, so that others get their turn in between. */
const maxInWrite = 500;

export interface Expiry {
  field: string;
  afterSeconds: number;
}

function cutoff({ afterSeconds }: Expiry): string {
  return new Date(Date.now() - afterSeconds * 1000).toISOString();
}

/** Removes the documents of a collection whose time is over. */
export async function sweepCollection(
  { connection, writer }: { connection: Connection; writer: Writer },
  name: string,
  expire: Expiry,
): Promise<void> {
  const table = identifier(name);
  const time = valueOf(expire.field);
  const expired = `SELECT rowid FROM ${table} WHERE ${time} < ? AND ${time} >= '' LIMIT ${maxInWrite}`;
  const sql = `DELETE FROM ${table} WHERE rowid IN (${expired})`;
  let removed = maxInWrite;
  while (removed >= maxInWrite) {
    removed = await writer.submit(() => connection.run(sql, cutoff(expire)));
  }
}

/** Removes the entries of a log that have expired, and prevents their numbers from being assigned again. */
export async function sweepLog(
  { connection, writer }: { connection: Connection; writer: Writer },
  name: string,
  expire: Expiry,
): Promise<void> {
  const { entries, floors } = logTables(name);
  const time = valueOf(expire.field);
  const expired = `SELECT scope, sequence FROM ${entries} WHERE ${time} < ? AND ${time} >= '' LIMIT ${maxInWrite}`;
  const floor = `INSERT INTO ${floors} (scope, sequence) VALUES (?, ?)
    ON CONFLICT (scope) DO UPDATE SET sequence = max(sequence, excluded.sequence)`;
  const remove = `DELETE FROM ${entries} WHERE scope = ? AND sequence = ?`;
  const sweep = () => {
    const rows = connection.rows<[scope: string, sequence: number]>(expired, cutoff(expire));
    for (const row of rows) {
      connection.run(floor, ...row);
      connection.run(remove, ...row);
    }
    return rows.length;
  };
  let removed = maxInWrite;
  while (removed >= maxInWrite) {
    removed = await writer.submit(sweep, { atomic: true });
  }
}
