import { z } from 'zod';
import { revision, text, timestamp } from '../common';

const criteria = z.array(text(500, 1)).max(100);

/** A step of a task. `criteriaChecked` states for each acceptance criterion, by its index, whether it is met. */
export const subtask = z
  .object({
    id: z.string(),
    title: text(200, 1),
    completed: z.boolean().default(false),
    created: timestamp.optional(),
    acceptanceCriteria: criteria.optional(),
    criteriaChecked: z.array(z.boolean()).max(100).optional(),
  })
  .meta({ id: 'Subtask' });
export type Subtask = z.infer<typeof subtask>;

/** A step as a caller sends it with its task; the service makes the id of one that has none. */
export const subtaskInput = z
  .strictObject({ ...subtask.shape, id: text(64, 1).optional() })
  .meta({ id: 'SubtaskOfTask' });
export type SubtaskInput = z.infer<typeof subtaskInput>;

/** The steps of a task as a caller sends them. */
export const subtaskInputs = z
  .array(subtaskInput)
  .max(500)
  .refine((list) => {
    const ids = list.flatMap(({ id }) => id ?? []);
    return new Set(ids).size === ids.length;
  }, 'two subtasks have the same id');

/** `expectedRevision` is the revision of the task, here and below. */
export const subtaskCreate = z
  .strictObject({
    title: text(200, 1),
    acceptanceCriteria: criteria.optional(),
    expectedRevision: revision.optional(),
  })
  .meta({ id: 'SubtaskCreate' });

export const subtaskPatch = z
  .strictObject({ ...subtaskCreate.shape, title: text(200, 1).optional(), completed: z.boolean().optional() })
  .meta({ id: 'SubtaskPatch' });

/** Which criterion is toggled, counted from 0. */
export const criterionToggle = z
  .strictObject({ criteriaIndex: z.number().int().min(0), expectedRevision: revision.optional() })
  .meta({ id: 'CriterionToggle' });
