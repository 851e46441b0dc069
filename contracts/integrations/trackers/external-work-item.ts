import { z } from 'zod';
import { text, timestamp } from '../../common';

/** What a tracker calls one of its work items: a number, or the key of a Jira issue. */
export const workItemId = z
  .string()
  .max(70)
  .regex(/^(?:[1-9][0-9]{0,9}|[A-Z][A-Z0-9_]{1,49}-[1-9][0-9]{0,9})$/, 'must be a number, or a key such as SHOP-12');

/** The most work items of trackers that a task names. */
export const maxExternalWorkItems = 50;

/** A work item of an external tracker that a task names: it was created for the task, or brought in. */
export const externalWorkItem = z
  .looseObject({
    provider: text(20, 1),
    project: text(200, 1),
    id: text(70, 1),
    url: text(2_000).nullable(),
    workItemType: text(300).nullable(),
    origin: z.enum(['created', 'imported']),
    profileId: text(64, 1),
    linkedAt: timestamp,
    linkedBy: text(200),
    /** Of one that was created: who approved it. */
    approvedBy: text(200).optional(),
  })
  .meta({ id: 'ExternalWorkItem' });
export type ExternalWorkItem = z.infer<typeof externalWorkItem>;
