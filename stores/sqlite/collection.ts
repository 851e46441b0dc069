import { aggregate } from 'mingo';
import type { Document, Filter, UpdateFilter } from 'mongodb';
import type { Collection, FindOptions, Stored } from '../port/collection';
import { StoreUnavailableError } from '../port/errors';
import { documentJson } from '../rules/document';
import { equalities } from '../rules/filter';
import { parsePipeline } from '../rules/pipeline';
import type { Declaration } from '../rules/spec';
import { parseUpdate, type Update, upsertId } from '../rules/update';
import type { Connection } from './connection';
import { isTaken } from './errors';
import { countDocuments, findDocuments, findFieldsOf, prepareSearch, type Search } from './query';
import { identifier } from './schema';
import { applyUpdate, upsertDocument } from './update';
import type { Writer } from './writer';

/** Documents that one write of a many-document operation takes, so that others get their turn in between. */
const maxInWrite = 500;

export class SqliteCollection<T extends Stored> implements Collection<T> {
  private readonly sql: Record<'insert' | 'get' | 'replace' | 'remove', string>;

  constructor(
    private readonly connection: Connection,
    private readonly writer: Writer,
    private readonly declaration: Declaration,
  ) {
    const table = identifier(declaration.name);
    this.sql = {
      insert: `INSERT INTO ${table} (id, doc) VALUES (?, ?)`,
      get: `SELECT doc FROM ${table} WHERE id = ?`,
      replace: `UPDATE ${table} SET doc = ? WHERE id = ?`,
      remove: `DELETE FROM ${table} WHERE id = ?`,
    };
  }

  async insert(document: T): Promise<void> {
    const json = documentJson(this.declaration, document);
    const id = document._id;
    await this.writer.submit(() => this.connection.run(this.sql.insert, id, json));
  }

  async insertAll(documents: readonly T[]): Promise<number> {
    const rows = documents.map((document) => [document._id, documentJson(this.declaration, document)] as const);
    return this.writer.submit(
      () => {
        const taken = rows.findIndex(([id, json]) => !this.isInserted(id, json));
        return taken < 0 ? rows.length : taken;
      },
      { atomic: true },
    );
  }

  async get(id: string): Promise<T | undefined> {
    return this.writer.read(() => this.stored(id));
  }

  async find(filter: Filter<T>, options: FindOptions = {}): Promise<T[]> {
    const search = prepareSearch(this.declaration, filter, options);
    return this.writer.read(() => findDocuments(this.connection, this.declaration, { search, ...options }));
  }

  async findFields<K extends keyof T & string>(
    filter: Filter<T>,
    fields: readonly K[],
    options: FindOptions = {},
  ): Promise<Pick<T, K>[]> {
    const search = prepareSearch(this.declaration, filter, options);
    return this.writer.read(() => findFieldsOf(this.connection, this.declaration, { search, ...options, fields }));
  }

  async count(filter: Filter<T>): Promise<number> {
    const search = prepareSearch(this.declaration, filter);
    return this.writer.read(() => countDocuments(this.connection, search));
  }

  async findOneAndUpdate(
    filter: Filter<T>,
    update: UpdateFilter<T>,
    { upsert = false, sort = {} }: { upsert?: boolean; sort?: Record<string, 1 | -1> } = {},
  ): Promise<T | undefined> {
    const options: FindOptions = { sort, limit: 1 };
    const search = prepareSearch(this.declaration, filter, options);
    const changes = parseUpdate(this.declaration, update);
    const equal = equalities(search.clauses);
    const newId = upsert ? upsertId(this.declaration.name, equal, changes) : undefined;
    return this.writer.submit(() => {
      const [document] = findDocuments(this.connection, this.declaration, { search, ...options });
      if (document) {
        this.apply(document, changes);
        return document;
      }
      if (newId === undefined) {
        return undefined;
      }
      const made = upsertDocument(this.declaration.name, newId, { equal, update: changes }) as T;
      this.connection.run(this.sql.insert, newId, documentJson(this.declaration, made));
      return made;
    });
  }

  async updateMany(filter: Filter<T>, update: UpdateFilter<T>): Promise<number> {
    const changes = parseUpdate(this.declaration, update);
    return this.forEachMatch(filter, (document) => this.apply(document, structuredClone(changes)));
  }

  async deleteMany(filter: Filter<T>): Promise<number> {
    return this.forEachMatch(filter, ({ _id }) => this.connection.run(this.sql.remove, _id) > 0);
  }

  async aggregate(pipeline: Document[]): Promise<Document[]> {
    const { match, rest } = parsePipeline(this.declaration.name, pipeline);
    const matching = await this.find(match as Filter<T>);
    return aggregate(matching, rest.flatMap(withoutCount), { scriptEnabled: false });
  }

  /** Inserts a document inside a transaction, unless its id or a unique value of it is taken. */
  private isInserted(id: string, json: string): boolean {
    try {
      this.connection.run(this.sql.insert, id, json);
      return true;
    } catch (error) {
      if (!isTaken(error)) {
        throw error;
      }
      return false;
    }
  }

  private stored(id: string): T | undefined {
    const row = this.connection.row<[string]>(this.sql.get, id);
    return row && (JSON.parse(row[0]) as T);
  }

  private apply(document: T, changes: Update): boolean {
    if (!applyUpdate(this.declaration.name, document, changes)) {
      return false;
    }
    this.connection.run(this.sql.replace, JSON.stringify(document), document._id);
    return true;
  }

  /** Finds what matches, then changes it in bounded writes; each document is read again before it is changed. */
  private async forEachMatch(filter: Filter<T>, change: (document: T) => boolean): Promise<number> {
    const search = prepareSearch(this.declaration, filter);
    const documents = await this.writer.read(() => findDocuments(this.connection, this.declaration, { search }));
    let changed = 0;
    for (let start = 0; start < documents.length; start += maxInWrite) {
      const ids = documents.slice(start, start + maxInWrite).map(({ _id }) => _id);
      changed += await this.writer
        .submit(() => this.changeEach(ids, filter, change), { atomic: true })
        .catch((error: unknown) => {
          // What the writes before this one have changed stays.
          if (changed === 0 || !(error instanceof StoreUnavailableError)) {
            throw error;
          }
          throw new StoreUnavailableError(error.message, { cause: error });
        });
    }
    return changed;
  }

  private changeEach(ids: string[], filter: Filter<T>, change: (document: T) => boolean): number {
    const again: Search<T> = prepareSearch(this.declaration, { $and: [{ _id: { $in: ids } }, filter] } as Filter<T>);
    return findDocuments(this.connection, this.declaration, { search: again }).filter(change).length;
  }
}

/** MongoDB counts nothing as no document, mingo as 0; this is what `$count` expands to. */
function withoutCount(stage: Document): Document[] {
  if (typeof stage.$count !== 'string') {
    return [stage];
  }
  return [{ $group: { _id: null, [stage.$count]: { $sum: 1 } } }, { $project: { _id: 0 } }];
}
