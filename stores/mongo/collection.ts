import {
  type Collection as MongoCollection,
  type Document,
  type Filter,
  MongoBulkWriteError,
  type UpdateFilter,
} from 'mongodb';
import type { Collection, FindOptions, Stored } from '../port/collection';
import { UnindexedQueryError } from '../port/errors';
import { planQuery, sortLimit } from '../port/query-plan';
import { documentJson } from '../rules/document';
import { equalities, parseFilter } from '../rules/filter';
import { parsePipeline } from '../rules/pipeline';
import type { Declaration } from '../rules/spec';
import { parseUpdate, upsertId } from '../rules/update';
import { isDuplicateKey, translated } from './errors';

/** How often an upsert that lost the race to insert looks again; from the second time on it finds the winner's. */
const maxUpsertTries = 4;

/** `Stored` with any other fields: the driver's own generic types do not follow the port's. */
type Raw = Stored & Document;

/** A filter as the driver types it, on the same documents. */
const rawFilter = <T>(filter: Filter<T>): Filter<Raw> => filter as Filter<Raw>;

export class MongoStoreCollection<T extends Stored> implements Collection<T> {
  constructor(
    private readonly documents: MongoCollection<Raw>,
    private readonly declaration: Declaration,
  ) {}

  async insert(document: T): Promise<void> {
    // The JSON text makes what is stored the same in both adapters: no undefined, no Date, nothing with a class.
    const copy = JSON.parse(documentJson(this.declaration, document)) as Raw;
    await this.run(() => this.documents.insertOne(copy));
  }

  async insertAll(documents: readonly T[]): Promise<number> {
    const copies = documents.map((document) => JSON.parse(documentJson(this.declaration, document)) as Raw);
    if (copies.length === 0) {
      return 0;
    }
    return this.run(async () => {
      try {
        return (await this.documents.insertMany(copies, { ordered: true })).insertedCount;
      } catch (error) {
        if (!(error instanceof MongoBulkWriteError) || !isDuplicateKey(error)) {
          throw error;
        }
        // In order: those before the first that was refused are there, and none after it.
        return [error.writeErrors].flat()[0]?.index ?? error.insertedCount;
      }
    });
  }

  async get(id: string): Promise<T | undefined> {
    const raw = await this.run(() => this.documents.findOne({ _id: id }));
    return (raw ?? undefined) as T | undefined;
  }

  async find(filter: Filter<T>, options: FindOptions = {}): Promise<T[]> {
    return this.found<T>(filter, options);
  }

  async findFields<K extends keyof T & string>(
    filter: Filter<T>,
    fields: readonly K[],
    options: FindOptions = {},
  ): Promise<Pick<T, K>[]> {
    // MongoDB adds the id unless that is excluded.
    const projection = { _id: 0, ...Object.fromEntries(fields.map((field) => [field, 1])) };
    return this.found<Pick<T, K>>(filter, { ...options, projection });
  }

  private async found<R>(filter: Filter<T>, options: FindOptions & { projection?: Document }): Promise<R[]> {
    const { sort = {}, skip = 0, limit, projection = {} } = options;
    const clauses = parseFilter(this.declaration.name, filter);
    const { ordered } = planQuery(this.declaration, clauses, { sort, limited: limit !== undefined });
    if (limit === 0) {
      return [];
    }
    const raw = rawFilter(filter);
    if (!ordered) {
      await this.assertSortable(raw, sort);
    }
    return this.run(async () => {
      const documents = await this.documents.find(raw, { sort, skip, limit: limit ?? 0, projection }).toArray();
      // The driver types what it reads by the raw document, whose shape is the collection's own.
      return documents as unknown as R[];
    });
  }

  async count(filter: Filter<T>): Promise<number> {
    this.assertIndexed(filter);
    return this.run(() => this.documents.countDocuments(rawFilter(filter)));
  }

  async findOneAndUpdate(
    filter: Filter<T>,
    update: UpdateFilter<T>,
    { upsert = false, sort = {} }: { upsert?: boolean; sort?: Record<string, 1 | -1> } = {},
  ): Promise<T | undefined> {
    const clauses = parseFilter(this.declaration.name, filter);
    const { ordered } = planQuery(this.declaration, clauses, { sort, limited: true });
    const changes = parseUpdate(this.declaration, update);
    if (upsert) {
      upsertId(this.declaration.name, equalities(clauses), changes);
    }
    if (!ordered) {
      await this.assertSortable(rawFilter(filter), sort);
    }
    const options = { upsert, sort, returnDocument: 'after' } as const;
    const updated = await this.run(async () => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await this.documents.findOneAndUpdate(rawFilter(filter), changes as UpdateFilter<Raw>, options);
        } catch (error) {
          // Two upserts of one new document race to insert it: the loser now finds the document and updates it.
          if (!upsert || !isDuplicateKey(error) || tries === maxUpsertTries) {
            throw error;
          }
        }
      }
    });
    return (updated ?? undefined) as T | undefined;
  }

  async updateMany(filter: Filter<T>, update: UpdateFilter<T>): Promise<number> {
    this.assertIndexed(filter);
    const changes = parseUpdate(this.declaration, update) as UpdateFilter<Raw>;
    const { modifiedCount } = await this.run(() => this.documents.updateMany(rawFilter(filter), changes));
    return modifiedCount;
  }

  async deleteMany(filter: Filter<T>): Promise<number> {
    this.assertIndexed(filter);
    const { deletedCount } = await this.run(() => this.documents.deleteMany(rawFilter(filter)));
    return deletedCount;
  }

  async aggregate(pipeline: Document[]): Promise<Document[]> {
    const { match, rest } = parsePipeline(this.declaration.name, pipeline);
    this.assertIndexed(match as Filter<T>);
    return this.run(() => this.documents.aggregate([{ $match: match }, ...rest]).toArray());
  }

  private assertIndexed(filter: Filter<T>): void {
    planQuery(this.declaration, parseFilter(this.declaration.name, filter));
  }

  /** A sort that no index serves is bounded as in the embedded store. */
  private async assertSortable(filter: Filter<Raw>, sort: Record<string, 1 | -1>): Promise<void> {
    const matching = await this.run(() => this.documents.countDocuments(filter, { limit: sortLimit + 1 }));
    if (matching > sortLimit) {
      throw new UnindexedQueryError(this.declaration.name, Object.keys(sort));
    }
  }

  private run<R>(operation: () => Promise<R>): Promise<R> {
    return translated(this.declaration.name, operation);
  }
}
