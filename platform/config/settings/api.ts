import { z } from 'zod';
import { apiKeys, callerKey, roles } from '../api-keys';
import { addressRanges, flag, integer, origins, perMinute, port, text } from './kinds';

/** Where the API listens and who may call it. */
export const apiSettings = {
  BOARD_HOST: text('address')
    .default('127.0.0.1')
    .meta({ form: 'address' })
    .describe('Address that the API and the small services listen on'),
  BOARD_PORT: port(3001).describe('Port of the API; 0: any free one'),
  BOARD_AUTH_ENABLED: flag(true).describe(
    '`false`: every direct caller is an administrator ([http.md](../use/http.md#who-may-call))',
  ),
  BOARD_ADMIN_KEY: callerKey.optional().describe("The administrator's API key; required while authentication is on"),
  BOARD_API_KEYS: apiKeys.describe('Further keys with the role `admin`, `agent` or `read-only`'),
  BOARD_AUTH_LOCALHOST_BYPASS: flag(false).describe('Callers on this machine need no key; never in production'),
  BOARD_AUTH_LOCALHOST_ROLE: z.enum(roles).default('read-only').describe('The role of those callers'),
  BOARD_ALLOWED_ORIGINS: origins.describe(
    'Origins whose pages may call the API and watch, such as `https://ui.example`',
  ),
  BOARD_PAGE: flag(true).describe(
    '`false`: no page for browsers is served at `/` ([page.md](../use/page.md)), and none about the API at `/docs`',
  ),
  BOARD_COMPAT: flag(true).describe(
    '`false`: existing clients are not served under `/compat/api` ([compat.md](../use/compat.md))',
  ),
  BOARD_TRUSTED_PROXIES: addressRanges.describe(
    'Proxies whose `X-Forwarded-For` is believed: addresses and networks. From others the header is ignored',
  ),
  BOARD_MAX_WATCHERS: integer(1_000, { min: 1, max: 100_000 }).describe(
    'Watchers of one API replica over the WebSocket',
  ),
  BOARD_WATCHERS_PER_ADDRESS: integer(200, { min: 1, max: 100_000 }).describe(
    'Watchers of one replica from one address',
  ),
};

/** Requests a minute and address. */
export const rateLimitSettings = {
  RATE_LIMIT_GLOBAL: perMinute(300).describe('All requests of an address; 0 turns a limit off'),
  RATE_LIMIT_READ: perMinute(300).describe('Its reads'),
  RATE_LIMIT_WRITE: perMinute(60).describe('Its writes'),
  RATE_LIMIT_UPLOAD: perMinute(20).describe('Its uploads'),
  RATE_LIMIT_ARTIFACTS: perMinute(120).describe('Its reads of contents of output artifacts'),
  RATE_LIMIT_AUTH: integer(10, { min: 0, max: 1_000_000, unit: 'in 15 minutes' }).describe(
    'Its sign-ins, setups, recoveries and changes of a password, over all replicas',
  ),
  RATE_LIMIT_AUTH_FAILURES: perMinute(30).describe(
    'Its failed authentications; further requests are answered with 429',
  ),
};
