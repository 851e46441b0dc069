import type { z } from 'zod';
import type { Deliverable, deliverablePatch } from '../../../contracts/tasks/deliverable';

type DeliverableFields = Omit<z.infer<typeof deliverablePatch>, 'expectedRevision'>;

/** The deliverable with these fields; another path or description makes it the next version. */
export function withDeliverableFields(before: Deliverable, fields: DeliverableFields, now: string): Deliverable {
  const after = { ...before, ...fields };
  const isNew = after.path !== before.path || after.description !== before.description;
  return { ...after, version: before.version + (isNew ? 1 : 0), updated: now };
}
