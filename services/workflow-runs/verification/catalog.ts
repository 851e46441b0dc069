import type { Database } from '../../../stores/port/collection';
import { createConfiguredRecords } from '../../../stores/port/configured-records';
import { refuse } from '../http/errors';
import type { ControlInput, CriterionInput } from './shapes';

export type Criterion = CriterionInput & { slug: string };
export type Control = ControlInput & { slug: string };

const most = { criteria: 200, controls: 500 };

/** Criteria and their controls as they are configured, both in the order of their slugs. */
export async function createVerificationCatalog(db: Database, now: () => Date) {
  const criteria = await createConfiguredRecords<CriterionInput>(db, 'verification-criteria', now);
  const controls = await createConfiguredRecords<ControlInput>(db, 'verification-controls', now);

  const listControls = async (): Promise<Control[]> =>
    (await controls.list()).map(({ id, ...control }) => ({ ...control, slug: id }));

  return {
    criteria: async (): Promise<Criterion[]> =>
      (await criteria.list()).map(({ id, ...criterion }) => ({ ...criterion, slug: id })),
    controls: listControls,

    async criterion(slug: string): Promise<Criterion | undefined> {
      const found = await criteria.get(slug);
      return found && { ...found, slug };
    },
    async control(slug: string): Promise<Control | undefined> {
      const found = await controls.get(slug);
      return found && { ...found, slug };
    },

    /** @throws AppError 409 when there are too many */
    async putCriterion(slug: string, fields: CriterionInput): Promise<void> {
      const known = await criteria.list();
      if (known.length >= most.criteria && !known.some(({ id }) => id === slug)) {
        throw refuse(409, `The limit of ${most.criteria} criteria is reached; delete one first.`);
      }
      await criteria.put(slug, fields);
    },

    /** @throws AppError 400 when its criterion is unknown, 409 when there are too many */
    async putControl(slug: string, fields: ControlInput): Promise<void> {
      if (!(await criteria.get(fields.criterion))) {
        throw refuse(400, 'criterion: no criterion has that slug');
      }
      const known = await controls.list();
      if (known.length >= most.controls && !known.some(({ id }) => id === slug)) {
        throw refuse(409, `The limit of ${most.controls} controls is reached; delete one first.`);
      }
      await controls.put(slug, fields);
    },

    /** Whether there was one. @throws AppError 409 while it has controls */
    async removeCriterion(slug: string): Promise<boolean> {
      if ((await listControls()).some(({ criterion }) => criterion === slug)) {
        throw refuse(409, 'Criterion has controls.');
      }
      return criteria.remove(slug);
    },

    /** Whether there was one. Its results and signoffs stay. */
    removeControl: (slug: string): Promise<boolean> => controls.remove(slug),
  };
}

export type VerificationCatalog = Awaited<ReturnType<typeof createVerificationCatalog>>;
