import { z } from 'zod';

/** The parts of a URL that a rule speaks of; none of a text that is no URL, which other rules refuse. */
const partsOf = (value: string): Partial<URL> => (URL.canParse(value) ? new URL(value) : {});

/**
 * An address on the web, written as it is stored: with `http:` or `https:`, without spaces, user name and password. Every check
 * also returns a result for texts that are no URL, since all of them run.
 */
export const webUrl = z
  .url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' })
  .max(2000)
  .regex(/^[^\s\u0000-\u0020\u007f\\]*$/, 'must not contain spaces, control characters or backslashes')
  .refine((value) => !partsOf(value).username && !partsOf(value).password, 'must not contain a user name or password');

/** A {@link webUrl} that is the address of a service, to which callers add. */
export const serviceUrl = webUrl.refine(
  (value) => !partsOf(value).search && !partsOf(value).hash,
  'must have no query or fragment',
);
