import { z } from 'zod';
import { isWellFormed } from '../../../platform/text/well-formed';
import { refuse } from './errors';

/**
 * Text from a caller, without what no store can contain: NUL, and halves of characters.
 *
 * @param most characters
 */
export const text = (most: number, least = 1) =>
  z
    .string()
    .min(least)
    .max(most)
    .refine((value) => !value.includes('\0') && isWellFormed(value), 'must be well-formed text without NUL');

/** What something is called in URLs. */
export const slug = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be a slug, like `no-dead-code`')
  .max(100);

/** A name or id in a path. What cannot be one is not refused for it: there is nothing at it (404). */
export const pathPart = z.string().max(200);

/** @throws AppError 404 `Run not found.` and the like, when it is not there */
export function requireFound<T>(thing: T | undefined, name: string): T {
  if (thing === undefined) {
    throw refuse(404, `${name} not found.`);
  }
  return thing;
}
