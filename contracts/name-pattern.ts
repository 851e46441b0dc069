import { z } from 'zod';

/** The name of a tool or an action as a caller states it. */
export const actionName = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[!-)+-~]+$/, 'printable characters without spaces and *');

/** Names that a rule is about: one name, `*` for all, or `git.*` for all that begin with `git.`. */
export const namePattern = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[!-)+-~]*\*?$/, 'a name, or the beginning of names with * at the end');
