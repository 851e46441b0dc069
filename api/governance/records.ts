import { assertFound, conflict, notFound } from '../../platform/errors/app-error';
import { expectedRevision, statedRevisions } from '../../platform/http/precondition';
import type { Recorded } from '../../stores/configured-records';
import { StaleRevisionError } from '../../stores/errors';
import { assertRevision } from '../config/revisions';

/** What is asked of a set of configured records (stores/configured-records.ts). */
interface Records<F extends object> {
  get(id: string): Promise<(F & Recorded) | undefined>;
  list(): Promise<(F & Recorded)[]>;
  create(id: string, fields: F): Promise<F & Recorded>;
  change(id: string, change: (current: (F & Recorded) | undefined) => F): Promise<F & Recorded>;
  remove(id: string, expectedRevision?: number): Promise<boolean>;
}

interface Named<F extends object> {
  /** What a refusal calls a record: `tool policy`. */
  resource: string;
  /** What its entity tag begins with: `tool-policies`. */
  tag: string;
  /** Most records there may be; at most as many as one list answers, 1,000. */
  most: number;
  /** A record as callers know it, for refusals that show it. */
  present: (record: F & Recorded) => unknown;
}

type Header = (name: string) => string | undefined;

/** Records that an administrator writes as a whole, each with its revision, and the refusals that go with it. */
export function createRecordEditor<F extends object>(records: Records<F>, { resource, tag, most, present }: Named<F>) {
  const find = async (id: string): Promise<F & Recorded> => {
    const found = await records.get(id);
    assertFound(found, resource, id);
    return found;
  };
  const stated = (id: string, header: Header) =>
    expectedRevision(statedRevisions(tag, id, { header }), async () => (await records.get(id))?.revision);

  return {
    /** @throws AppError 404 */
    find,

    /** @throws AppError 409 for an id that is taken, with the record that has it, and when there are too many */
    async create(id: string, fields: F): Promise<F & Recorded> {
      if ((await records.list()).length >= most) {
        throw conflict(`There may be at most ${most}.`, { resourceType: resource });
      }
      try {
        return await records.create(id, fields);
      } catch (error) {
        if (!(error instanceof StaleRevisionError)) throw error;
        const current = await records.get(id);
        throw conflict(`There is a ${resource} ${id} already.`, {
          resourceType: resource,
          resourceId: id,
          current: current && present(current),
        });
      }
    },

    /** Replaces all fields. @throws AppError 404; 409 with the record when it is not at the revision that is stated */
    async replace(id: string, fields: F, header: Header): Promise<F & Recorded> {
      const expected = await stated(id, header);
      return records.change(id, (current) => {
        assertFound(current, resource, id);
        assertRevision(resource, current, expected, present(current));
        return fields;
      });
    },

    /** @throws AppError 404; 409 with the record when it is not at the revision that is stated */
    async remove(id: string, header: Header): Promise<void> {
      const expected = await stated(id, header);
      const current = await find(id);
      assertRevision(resource, current, expected, present(current));
      if (!(await records.remove(id, expected))) throw notFound(resource, id);
    },
  };
}
