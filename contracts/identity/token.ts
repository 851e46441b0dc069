import { z } from 'zod';
import { revision, slug, timestamp } from '../common';
import { permission, role } from '../permissions';
import { listPage } from '../query';
import { membershipId, workspaceId } from './workspace';

export const tokenId = z
  .string()
  .regex(/^token_[0-9a-f]{24}$/, 'must look like token_ and 24 hexadecimal digits')
  .meta({ id: 'TokenId' });

/** Permissions of the role that a credential is limited to. */
export const scopes = z
  .array(permission)
  .min(1)
  .max(permission.options.length)
  .transform((names) => [...new Set(names)]);

/**
 * Whether the credential is accepted now: `suspended` while its member or user is, `orphaned` once the membership it was made
 * with has ended.
 */
export const credentialState = z.enum(['active', 'expired', 'revoked', 'suspended', 'orphaned']);
export type CredentialState = z.infer<typeof credentialState>;

/** A key of an agent, a service or a person for one workspace. Its secret is stored nowhere. */
export const apiToken = z
  .object({
    id: tokenId,
    workspaceId,
    name: z.string(),
    /** Who acts: an agent or a service of the token's name, or the user. */
    subject: z.enum(['agent', 'service', 'user']),
    userId: z.string(),
    membershipId,
    role,
    /** All permissions of the role when absent. */
    scopes: z.array(permission).optional(),
    /** What lets it start and steer agents from elsewhere; only on this machine when absent. */
    capabilities: z.array(z.string()).optional(),
    state: credentialState,
    revision,
    createdAt: timestamp,
    createdBy: z.string(),
    expiresAt: timestamp.optional(),
    /** At most a minute old. */
    lastUsedAt: timestamp.optional(),
    rotatedAt: timestamp.optional(),
    /** Until when the secret before the last rotation is accepted as well. */
    formerSecretUntil: timestamp.optional(),
    revokedAt: timestamp.optional(),
    revokedBy: z.string().optional(),
  })
  .meta({ id: 'ApiToken' });
export type ApiToken = z.infer<typeof apiToken>;

/** What lets a client start and steer agents from elsewhere. */
const localAgentCapability = z.enum(['desktop:local', 'agent:run:local', 'agent:run:unrestricted', 'local-agent:run']);

/** The only response that ever has the token itself. */
export const issuedToken = apiToken.extend({ token: z.string() }).meta({ id: 'IssuedApiToken' });
export type IssuedToken = z.infer<typeof issuedToken>;

export const tokenParams = z.strictObject({ workspaceId, tokenId });
export const tokenQuery = z.strictObject(listPage(50, 200)).meta({ id: 'ApiTokenQuery' });

export const tokenCreate = z
  .strictObject({
    name: slug,
    role,
    scopes: scopes.optional(),
    capabilities: z.array(localAgentCapability).min(1).max(4).optional(),
    expiresAt: timestamp.optional(),
  })
  .meta({ id: 'ApiTokenCreate' });

/** How long the former secret is accepted as well, in milliseconds: a day unless stated, a week at most. */
export const tokenRotate = z
  .strictObject({ gracePeriodMs: z.number().int().min(0).max(604_800_000).default(86_400_000) })
  .meta({ id: 'ApiTokenRotate' });
