import { isSameJson } from '../../platform/json/same';
import { currentOperation, operationTime } from '../../platform/operations/operation';
import type { Collection, Database, Stored } from './collection';
import { type CurrentRecord, StaleRevisionError } from './errors';
import { inPages } from './in-pages';
import { insertOnce } from './insert';

/** What every configured record is returned with beside its own fields. */
export interface Recorded {
  id: string;
  revision: number;
  createdAt: string;
  updatedAt: string;
}

/** The own fields of a record, which is what a change of it replaces. */
export function ownFields<F extends object>(record: F & Recorded): Omit<F, keyof Recorded> {
  const { id: _id, revision: _revision, createdAt: _createdAt, updatedAt: _updatedAt, ...fields } = record;
  return fields;
}

interface Document<F> extends Stored, Omit<Recorded, 'id'> {
  fields: F;
}

/** Writers of one record do not stay in each other's way for longer than this. */
const maxTries = 50;

/** A set of records that people configure by name, each written whole: a write is one compare-and-set on its revision. */
export async function createConfiguredRecords<F extends object>(db: Database, name: string, now = operationTime) {
  const records: Collection<Document<F>> = await db.collection<Document<F>>({ name });

  async function put(id: string, fields: F, expectedRevision?: number): Promise<F & Recorded> {
    const updatedAt = now().toISOString();
    for (let attempt = 0; attempt < maxTries; attempt += 1) {
      const current = await records.get(id);
      const revision = current?.revision ?? 0;
      if (current && expectedRevision === 0 && isMadeByThis(current, fields)) {
        return present(current);
      }
      if (expectedRevision !== undefined && expectedRevision !== revision) {
        break;
      }
      // A write that changes nothing is no version of its own.
      if (current && isSameJson(current.fields, fields)) {
        return present(current);
      }
      const next = { _id: id, fields, revision: revision + 1, createdAt: current?.createdAt ?? updatedAt, updatedAt };
      if (await replaces(next)) {
        return present(next);
      }
    }
    throw new StaleRevisionError(name, id, {
      expectedRevision: expectedRevision ?? 0,
      current: currentOf(await records.get(id)),
    });
  }

  /** Whether `next` was written: no other writer has changed the record since the revision before it was read. */
  async function replaces(next: Document<F>): Promise<boolean> {
    const { _id, ...rest } = next;
    if (next.revision === 1) {
      return insertOnce(records, next);
    }
    // The two filters and updates are of a document whose own fields stay opaque here.
    return (await records.findOneAndUpdate(at(_id, next.revision - 1), { $set: rest as never })) !== undefined;
  }

  const at = (_id: string, revision: number) => ({ _id, revision }) as never;

  return {
    async get(id: string): Promise<(F & Recorded) | undefined> {
      const record = await records.get(id);
      return record && present(record);
    },

    /** All of them, by id. */
    async list(): Promise<(F & Recorded)[]> {
      const all: (F & Recorded)[] = [];
      for await (const record of inPages(records, {})) {
        all.push(present(record));
      }
      return all;
    },

    /** Makes the record or writes over it. @throws StaleRevisionError when it is at another revision than expected */
    put,

    /**
     * Replaces the fields of a record by what `change` makes of the newest, or makes one; `change` may run more than once,
     * and must not have effects of its own.
     *
     * @throws StaleRevisionError when others write it all the time; what `change` throws
     */
    async change(id: string, change: (current: (F & Recorded) | undefined) => F): Promise<F & Recorded> {
      for (let attempt = 1; ; attempt += 1) {
        const record = await records.get(id);
        const current = record && present(record);
        const next = change(current);
        try {
          return await put(id, next, current?.revision ?? 0);
        } catch (error) {
          if (!(error instanceof StaleRevisionError) || attempt === maxTries) {
            throw error;
          }
        }
      }
    },

    /** @throws StaleRevisionError when there is one already */
    create: (id: string, fields: F) => put(id, fields, 0),

    /** Whether there was one. @throws StaleRevisionError when it is at another revision than expected */
    async remove(id: string, expectedRevision?: number): Promise<boolean> {
      const one = expectedRevision === undefined ? { _id: id } : at(id, expectedRevision);
      if ((await records.deleteMany(one)) > 0) {
        return true;
      }
      const current = expectedRevision === undefined ? undefined : await records.get(id);
      if (expectedRevision === undefined || !current) {
        return false;
      }
      throw new StaleRevisionError(name, id, { expectedRevision, current: currentOf(current) });
    },
  };
}

/** Whether an earlier try of the running operation has made the requested record. */
const isMadeByThis = <F extends object>({ revision, fields: standing }: Document<F>, fields: F): boolean =>
  currentOperation()?.repeated === true && revision === 1 && isSameJson(standing, fields);

const currentOf = <F extends object>(record: Document<F> | undefined): CurrentRecord =>
  record ? { revision: record.revision, shown: present(record) } : { revision: 0, shown: null };

const present = <F extends object>({ _id, fields, revision, createdAt, updatedAt }: Document<F>): F & Recorded => ({
  ...fields,
  id: _id,
  revision,
  createdAt,
  updatedAt,
});
