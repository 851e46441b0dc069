import { z } from 'zod';

/** The call that helps after a refusal. */
export const nextCall = z
  .object({
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    /** A path of this document with its parameters filled in. */
    path: z.string(),
    /** What to send, where the refusal knows all of it. */
    body: z.record(z.string(), z.unknown()).optional(),
    /** One line: what the call is good for. */
    remedy: z.string(),
  })
  .meta({ id: 'NextCall' });
export type NextCall = z.infer<typeof nextCall>;

/** The envelope of every refusal (specification 1, "Errors"). */
export const errorBody = z
  .object({
    error: z.string(),
    /** The sentence again, where it is a conflict. */
    message: z.string().optional(),
    code: z.string().optional(),
    details: z.object({ next: nextCall.optional() }).catchall(z.unknown()),
  })
  .meta({ id: 'Error' });
export type ErrorBody = z.infer<typeof errorBody>;
