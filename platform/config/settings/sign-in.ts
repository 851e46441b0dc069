import { z } from 'zod';
import { isLoopbackHost } from '../../http/loopback-host';
import { type Role, roles } from '../api-keys';
import { entriesOf, names, optionalText, text } from './kinds';

/** Whether what is sent there cannot be read on its way: over TLS, or within this machine. */
const isConfidential = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));

/** A URL without credentials, query and fragment, over TLS unless it is of this machine. */
const confidentialUrl = (form: string) =>
  z
    .string()
    .refine((value) => {
      const url = URL.parse(value);
      return url !== null && isConfidential(url) && !url.username && !url.password && !url.search && !url.hash;
    }, 'must be an https URL without user, query and fragment; http is for this machine only')
    .meta({ form });

/** The role that a group of the provider gives. */
export interface GroupRole {
  group: string;
  role: Role;
}

/** Parses `group:role,…`; commas and percent signs of a group's name are percent-encoded. The first group that a user has decides. */
const groupRoles = z
  .string()
  .default('')
  .transform((list, context): GroupRole[] =>
    entriesOf(list).flatMap((entry, index) => {
      const [, encoded = '', name] = /^(.+):([a-z-]+)$/.exec(entry) ?? [];
      const role = roles.find((one) => one === name);
      const group = role && decoded(encoded);
      if (!role || !group) {
        context.addIssue({ code: 'custom', message: `entry ${index + 1} is not group:role (${roles.join(', ')})` });
        return [];
      }
      return [{ group, role }];
    }),
  )
  .meta({ form: '`group:role,…`' });

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Sign-in with a provider of OpenID Connect. */
export const signInSettings = {
  BOARD_PUBLIC_URL: confidentialUrl('origin')
    .refine((value) => URL.parse(value)?.pathname === '/', 'must have no path')
    .transform((value) => new URL(value).origin)
    .optional()
    .describe('Address at which browsers reach the API, such as `https://board.example`'),
  BOARD_OIDC_ISSUER: confidentialUrl('URL')
    .optional()
    .describe('Provider of OpenID Connect that people sign in with ([guide](../use/identity/openid-connect.md))'),
  BOARD_OIDC_CLIENT_ID: optionalText('text').describe('Our client there; required with an issuer'),
  BOARD_OIDC_CLIENT_SECRET: optionalText('text').describe('Its secret; without one it is a public client'),
  BOARD_OIDC_SCOPES: text('space-separated')
    .default('openid profile email')
    .refine((scopes) => scopes.split(' ').includes('openid'), 'must have the scope openid')
    .meta({ form: 'space-separated' })
    .describe('Scopes that are requested'),
  BOARD_OIDC_GROUPS_CLAIM: text('name')
    .default('groups')
    .meta({ form: 'name' })
    .describe("Claim with the user's groups; dots lead into objects, as in `realm_access.roles`"),
  BOARD_OIDC_ROLE_GROUPS: groupRoles.describe('Roles of groups; the first entry whose group the user has decides'),
  BOARD_OIDC_DEFAULT_ROLE: z
    .enum(roles)
    .optional()
    .describe('Role of users with none of these groups; without it they are refused'),
  BOARD_OIDC_ALLOWED_DOMAINS: names.describe('Domains of verified email addresses that may sign in; empty: all'),
};

type SignInSettings = { [Name in keyof typeof signInSettings]?: z.output<(typeof signInSettings)[Name]> };

const isSet = (value: unknown): boolean => value !== undefined && !(Array.isArray(value) && value.length === 0);

/** What is missing for sign-ins to work, and what is set without effect. */
export function signInProblems(settings: SignInSettings): string[] {
  const { BOARD_OIDC_ISSUER: issuer } = settings;
  if (issuer === undefined) {
    const dependent = [
      'BOARD_OIDC_CLIENT_ID',
      'BOARD_OIDC_CLIENT_SECRET',
      'BOARD_OIDC_ROLE_GROUPS',
      'BOARD_OIDC_DEFAULT_ROLE',
      'BOARD_OIDC_ALLOWED_DOMAINS',
    ] as const;
    return dependent
      .filter((name) => isSet(settings[name]))
      .map((name) => `${name}: has no effect without BOARD_OIDC_ISSUER`);
  }
  const required = (['BOARD_OIDC_CLIENT_ID', 'BOARD_PUBLIC_URL'] as const).filter((name) => !isSet(settings[name]));
  const isOpen = isSet(settings.BOARD_OIDC_ROLE_GROUPS) || isSet(settings.BOARD_OIDC_DEFAULT_ROLE);
  return [
    ...required.map((name) => `${name}: required with BOARD_OIDC_ISSUER`),
    ...(isOpen
      ? []
      : ['BOARD_OIDC_ROLE_GROUPS: required with BOARD_OIDC_ISSUER, unless BOARD_OIDC_DEFAULT_ROLE is set']),
  ];
}
