import { z } from 'zod';

const base = 'https://board.invalid';

/** Whether a text is a path of this service: a browser takes `//host` and `/\host` for another one. */
const isOwnPath = (path: string): boolean =>
  /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path) && URL.parse(path, base)?.origin === base;

/** Where a browser goes once its user has signed in. */
export const returnTo = z.string().max(500).refine(isOwnPath, 'must be a path of this service, such as /tasks');

export const oidcLoginQuery = z.strictObject({ returnTo: returnTo.optional() }).meta({ id: 'OidcLoginQuery' });

const parameter = z.string().max(4_096).optional();

/** What a browser comes back with from the provider; providers add parameters of their own. */
export const oidcCallbackQuery = z
  .looseObject({ code: parameter, state: parameter, iss: parameter, error: parameter })
  .meta({ id: 'OidcCallbackQuery' });

export const oidcLogout = z
  .object({
    /** Where the browser ends its session at the provider; null where there is none to end. */
    endSessionUrl: z.url().nullable(),
  })
  .meta({ id: 'OidcLogout' });
