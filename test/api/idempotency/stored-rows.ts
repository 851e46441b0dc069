import { join } from 'node:path';
import Libsql from 'libsql';
import { MongoClient } from 'mongodb';
import type { ApiUnderTest } from '../api-under-test';

/**
 * What is no record of a create: the keys themselves, news for watchers, the readiness probe, setup codes that are renewed by
 * a timer, the search index, which follows, and the stores of another workspace, which are opened after it was created.
 */
const others = /^(idempotency-keys|feed\.|store\.|setup-codes|search[.-]|ws-)/;

/** How many documents each collection of the store holds. */
export async function storedRows({
  api,
  dataDir,
}: Pick<ApiUnderTest, 'api' | 'dataDir'>): Promise<Record<string, number>> {
  const url = api.context.env.MONGODB_URL;
  const counts = url === undefined ? sqliteRows(dataDir) : await mongoRows(url);
  return Object.fromEntries(counts.filter(([name]) => !others.test(name)).sort());
}

/** The same of the embedded store alone, whichever process has it open. */
export const storedRowsOf = (dataDir: string): Record<string, number> =>
  Object.fromEntries(
    sqliteRows(dataDir)
      .filter(([name]) => !others.test(name))
      .sort(),
  );

function sqliteRows(dataDir: string): [string, number][] {
  const database = new Libsql(join(dataDir, 'runboard.sqlite'), { timeout: 2_000 });
  try {
    const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all() as { name: string }[];
    return tables.map(({ name }) => {
      const row = database.prepare(`SELECT count(*) AS count FROM "${name}"`).get() as { count: number };
      return [name, row.count];
    });
  } finally {
    database.close();
  }
}

async function mongoRows(url: string): Promise<[string, number][]> {
  const client = await new MongoClient(url).connect();
  try {
    const collections = await client.db().listCollections({}, { nameOnly: true }).toArray();
    return await Promise.all(
      collections.map(async ({ name }): Promise<[string, number]> => [
        name,
        await client.db().collection(name).countDocuments(),
      ]),
    );
  } finally {
    await client.close();
  }
}
