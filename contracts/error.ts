import { z } from 'zod';

/** The envelope of every refusal (specification 1, "Errors"). */
export const errorBody = z
  .object({
    error: z.string(),
    /** The sentence again, where it is a conflict. */
    message: z.string().optional(),
    code: z.string().optional(),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Error' });
export type ErrorBody = z.infer<typeof errorBody>;
