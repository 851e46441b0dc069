import { z } from 'zod';
import { revision, text, timestamp } from './common';

/** Something to check before a task is done. Loose: what a person added by hand is kept. */
export const verificationStep = z
  .looseObject({
    id: z.string().max(64),
    description: text(500, 1),
    checked: z.boolean().default(false),
    /** When it was checked; absent while it is not. */
    checkedAt: timestamp.optional(),
  })
  .meta({ id: 'VerificationStep' });
export type VerificationStep = z.infer<typeof verificationStep>;

/** `expectedRevision` is the revision of the task, here and below. */
export const verificationStepCreate = z
  .strictObject({ description: text(500, 1), expectedRevision: revision.optional() })
  .meta({ id: 'VerificationStepCreate' });

export const verificationStepPatch = z
  .strictObject({
    description: text(500, 1).optional(),
    checked: z.boolean().optional(),
    expectedRevision: revision.optional(),
  })
  .meta({ id: 'VerificationStepPatch' });
