import { z } from 'zod';

/** The fewest characters of a key: a random one of this length cannot be guessed, at whatever rate. */
export const minKeyLength = 24;

const tooShort = `must have at least ${minKeyLength} characters: openssl rand -hex 24`;

/** One key or token that callers present. */
export const callerKey = z.string().min(minKeyLength, tooShort);

export const roles = ['admin', 'agent', 'read-only'] as const;
export type Role = (typeof roles)[number];

/** One entry of `BOARD_API_KEYS`. */
export interface ApiKey {
  name: string;
  key: string;
  role: Role;
}

/** Parses `name:key:role,name:key:role`; the problem text names an entry by position, never by its key. */
export const apiKeys = z
  .string()
  .default('')
  .transform((text, context): ApiKey[] => {
    const keys: ApiKey[] = [];
    for (const [index, entry] of text.split(',').filter(Boolean).entries()) {
      const [name, key, role, ...rest] = entry.trim().split(':');
      const matched = roles.find((candidate) => candidate === role);
      const refuse = (message: string) =>
        context.addIssue({ code: 'custom', message: `entry ${index + 1} ${message}` });
      if (!name || !key || !matched || rest.length > 0) {
        refuse(`is not name:key:role (${roles.join(', ')})`);
      } else if (key.length < minKeyLength) {
        refuse(`has a key that is too short: it ${tooShort}`);
      } else {
        keys.push({ name, key, role: matched });
      }
    }
    return keys;
  })
  .meta({ form: '`name:key:role,…`' });

/** Parses `user:token,user:token`; the problem text names an entry by position, never by its token. */
export const userTokens = z
  .string()
  .default('')
  .transform((text, context): { user: string; token: string }[] =>
    text
      .split(',')
      .filter(Boolean)
      .flatMap((entry, index) => {
        const [user, token, ...rest] = entry.trim().split(':');
        const isWellFormed = user && token && rest.length === 0;
        if (isWellFormed && token.length >= minKeyLength) {
          return [{ user, token }];
        }
        const problem = isWellFormed ? `has a token that is too short: it ${tooShort}` : 'is not user:token';
        context.addIssue({ code: 'custom', message: `entry ${index + 1} ${problem}` });
        return [];
      }),
  )
  .meta({ form: '`user:token,…`' });

interface KeySettings {
  BOARD_ADMIN_KEY?: string | undefined;
  BOARD_API_KEYS: readonly ApiKey[];
  PLANTS_TOKENS: readonly { token: string }[];
  BITMAP_TOKEN?: string | undefined;
}

/**
 * One key under two names: who calls would depend on the order of the settings, and a key of the lesser role would be
 * one of the greater. The texts name settings and positions, never a key.
 */
export function sharedKeyProblems(settings: KeySettings): string[] {
  const owners = new Map<string, string>();
  const namedKeys: [setting: string, place: string, key: string | undefined][] = [
    ['BOARD_ADMIN_KEY', '', settings.BOARD_ADMIN_KEY],
    ...settings.BOARD_API_KEYS.map(({ key }, n): [string, string, string] => [
      'BOARD_API_KEYS',
      ` entry ${n + 1}`,
      key,
    ]),
    ...settings.PLANTS_TOKENS.map(({ token }, n): [string, string, string] => [
      'PLANTS_TOKENS',
      ` entry ${n + 1}`,
      token,
    ]),
    ['BITMAP_TOKEN', '', settings.BITMAP_TOKEN],
  ];
  return namedKeys.flatMap(([setting, place, key]) => {
    if (key === undefined) {
      return [];
    }
    const owner = owners.get(key);
    if (owner === undefined) {
      owners.set(key, `${setting}${place}`);
    }
    return owner === undefined ? [] : [`${setting}:${place} has the same key as ${owner}: each name needs its own`];
  });
}
