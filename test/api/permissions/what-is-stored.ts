import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { MongoClient } from 'mongodb';
import type { ApiContext } from '../../../api/context';
import type { AuditStore } from '../../../stores/system/audit-store';

const digest = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

function tables(file: string): Record<string, string> {
  const database = new Database(file, { readonly: true });
  try {
    const names = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[];
    return Object.fromEntries(
      names.map(({ name }) => [name, digest(JSON.stringify(database.prepare(`SELECT * FROM "${name}"`).all()))]),
    );
  } finally {
    database.close();
  }
}

async function mongoCollections(url: string): Promise<Record<string, string>> {
  const client = await MongoClient.connect(url);
  try {
    const database = client.db();
    const names = (await database.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
    const contents = names.map(async (name): Promise<[string, string]> => {
      const documents = await database.collection(name).find().sort({ _id: 1 }).toArray();
      return [name, digest(JSON.stringify(documents))];
    });
    return Object.fromEntries(await Promise.all(contents));
  } finally {
    await client.close();
  }
}

/** Every file under a directory but the database's own, by its digest. */
async function files(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('runboard.sqlite'))
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(paths.map(async (path): Promise<[string, string]> => [path, digest(await readFile(path))])),
  );
}

const auditTables = new Set(['audit', 'audit-heads']);
/** The search index follows what is stored, a little later. */
const searchTables = /^(?:ws-[a-z0-9]+-)?search[.-]/;

/** The last action in the audit log. That authentications fail is written there too, once a minute, and is no action. */
async function lastAction(audit: AuditStore): Promise<string> {
  const { items } = await audit.list({ limit: 1000 });
  return items.find(({ action }) => action !== 'auth.failed')?.hash ?? 'none';
}

/**
 * A digest of every table (or collection) and of every file of a data directory: two that are equal prove that nothing has
 * been changed between them.
 */
export async function whatIsStored({ env, audit }: Pick<ApiContext, 'env' | 'audit'>): Promise<Record<string, string>> {
  const { MONGODB_URL: mongoUrl, BOARD_DATA_DIR: dataDir } = env;
  const stored = mongoUrl === undefined ? tables(join(dataDir, 'runboard.sqlite')) : await mongoCollections(mongoUrl);
  const withoutAudit = Object.entries(stored).filter(([name]) => !auditTables.has(name) && !searchTables.test(name));
  return { ...Object.fromEntries(withoutAudit), lastAction: await lastAction(audit), ...(await files(dataDir)) };
}
