import { z } from 'zod';
import { revision, text, timestamp } from '../common';

/** A check before a task is done. Loose: what a person added by hand is preserved. */
export const verificationStep = z
  .looseObject({
    id: z.string().max(64),
    description: text(500, 1),
    checked: z.boolean().default(false),
    /** Whether a run has to report that it passed, or a person to check it, before the run makes the task `done`. */
    required: z.boolean().optional(),
    /** When it was checked; absent while it is not. */
    checkedAt: timestamp.optional(),
  })
  .meta({ id: 'VerificationStep' });
export type VerificationStep = z.infer<typeof verificationStep>;

/** `expectedRevision` is the revision of the task, here and below. */
export const verificationStepCreate = z
  .strictObject({ description: text(500, 1), required: z.boolean().optional(), expectedRevision: revision.optional() })
  .meta({ id: 'VerificationStepCreate' });

export const verificationStepPatch = z
  .strictObject({
    description: text(500, 1).optional(),
    checked: z.boolean().optional(),
    required: z.boolean().optional(),
    expectedRevision: revision.optional(),
  })
  .meta({ id: 'VerificationStepPatch' });
