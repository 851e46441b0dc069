import { assertFound, conflict, notFound } from '../platform/errors/app-error';
import type { StatedRevision } from '../platform/http/limits/precondition';
import { ownFields, type Recorded } from '../stores/port/configured-records';
import { StaleRevisionError } from '../stores/port/errors';
import { assertRevision, statedRevision } from './revisions';

/** The part of a store of configured records (stores/port/configured-records.ts) that routes call. */
interface Records<F extends object> {
  get(id: string): Promise<(F & Recorded) | undefined>;
  list(): Promise<(F & Recorded)[]>;
  create(id: string, fields: F): Promise<F & Recorded>;
  change(id: string, change: (current: (F & Recorded) | undefined) => F): Promise<F & Recorded>;
  remove(id: string, expectedRevision?: number): Promise<boolean>;
}

/** One kind of record with a revision. */
export interface RecordKind<F extends object, View> {
  records: Records<F>;
  /** What a sentence calls one: `tool policy`. */
  resource: string;
  /** What entity tags begin with: `tool-policies`. */
  type: string;
  /** The `resourceType` of refusals; `resource` when absent. */
  resourceType?: string;
  /** The most records there may be; no limit when absent. */
  max?: number;
  /** A record as callers read it. */
  present: (record: F & Recorded) => View;
  /** More details of the refusal of an id that is taken. */
  takenDetails?: (id: string) => Record<string, unknown>;
}

/** What of a record a change replaces. */
export type OwnFields<F> = Omit<F, keyof Recorded>;

/** Writes records that each have a revision, and refuses what does not fit the current one. */
export function createRecordEditor<F extends object, View>(kind: RecordKind<F, View>) {
  const { records, resource, type, resourceType = resource, max = Infinity, present } = kind;

  const find = async (id: string): Promise<F & Recorded> => {
    const record = await records.get(id);
    assertFound(record, resource, id);
    return record;
  };
  const expectedOf = (id: string, stated: StatedRevision) =>
    statedRevision({ type, id, current: () => records.get(id) }, stated);

  function assertExpected(id: string, current: (F & Recorded) | undefined, expected: number | undefined): void {
    assertRevision(resourceType, current ?? { id, revision: 0 }, {
      expectedRevision: expected,
      shown: current ? present(current) : null,
    });
  }

  async function taken(id: string): Promise<Error> {
    const current = await records.get(id);
    return conflict(`The ${resource} ${id} already exists.`, {
      resourceType,
      resourceId: id,
      ...kind.takenDetails?.(id),
      current: current && present(current),
    });
  }

  return {
    /** @throws AppError 404 */
    find,

    /** @throws AppError 409 for an id that is taken, with the record that has it, and when there are too many */
    async create(id: string, fields: F): Promise<F & Recorded> {
      if (max < Infinity && (await records.list()).length >= max) {
        throw conflict(`The limit of ${max} is reached; delete one first.`, { resourceType });
      }
      try {
        return await records.create(id, fields);
      } catch (error) {
        throw error instanceof StaleRevisionError ? await taken(id) : error;
      }
    },

    /**
     * Replaces all fields by what `change` makes of the newest; it may run more than once.
     *
     * @throws AppError 404; 409 with the record when it is not at the stated revision
     */
    async change(id: string, stated: StatedRevision, change: (current: OwnFields<F>) => F): Promise<F & Recorded> {
      const expected = await expectedOf(id, stated);
      return records.change(id, (current) => {
        assertFound(current, resource, id);
        assertExpected(id, current, expected);
        return change(ownFields<F>(current));
      });
    },

    /** Creates the record or replaces all its fields. @throws AppError 409 when it is not at the stated revision */
    async put(id: string, stated: StatedRevision, fields: F): Promise<F & Recorded> {
      const expected = await expectedOf(id, stated);
      return records.change(id, (current) => {
        assertExpected(id, current, expected);
        return fields;
      });
    },

    /** @throws AppError 404; 409 with the record when it is not at the stated revision */
    async remove(id: string, stated: StatedRevision): Promise<void> {
      const expected = await expectedOf(id, stated);
      assertExpected(id, await find(id), expected);
      if (!(await records.remove(id, expected))) {
        throw notFound(resource, id);
      }
    },
  };
}
