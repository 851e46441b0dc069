import { z } from 'zod';
import { revision, text, timestamp } from '../common';

export const deliverableType = z.enum(['document', 'code', 'report', 'artifact', 'other']);
export const deliverableStatus = z.enum(['pending', 'attached', 'reviewed', 'accepted']);

const writable = {
  title: text(200, 1),
  type: deliverableType,
  /** Where it is: a path in the repository or an address. It is stored unchanged and never opened. */
  path: text(500, 1),
  description: text(1000, 1),
};

/** A result that a task is to produce. Loose: what a person added by hand is preserved. */
export const deliverable = z
  .looseObject({
    id: z.string().max(64),
    title: writable.title,
    type: deliverableType.default('other'),
    path: writable.path.optional(),
    description: writable.description.optional(),
    status: deliverableStatus.default('pending'),
    agent: text(100).optional(),
    model: text(100).optional(),
    sourceRunId: text(100).optional(),
    /** Grows with each change of the path or the description. */
    version: z.number().int().min(1).default(1),
    created: timestamp.optional(),
    updated: timestamp.optional(),
  })
  .meta({ id: 'Deliverable' });
export type Deliverable = z.infer<typeof deliverable>;

/** `agent` defaults to the caller; `expectedRevision` is the revision of the task, here and below. */
export const deliverableCreate = z
  .strictObject({
    title: writable.title,
    type: deliverableType.optional(),
    path: writable.path.optional(),
    description: writable.description.optional(),
    agent: text(100, 1).optional(),
    model: text(100, 1).optional(),
    sourceRunId: text(100, 1).optional(),
    expectedRevision: revision.optional(),
  })
  .meta({ id: 'DeliverableCreate' });

export const deliverablePatch = z
  .strictObject({
    ...z.object(writable).partial().shape,
    status: deliverableStatus.optional(),
    expectedRevision: revision.optional(),
  })
  .meta({ id: 'DeliverablePatch' });
