import { z } from 'zod';
import { text, timestamp } from '../common';
import { role } from '../permissions';
import { listPage } from '../query';
import { membershipId, membershipStatus, workspaceId } from './workspace';

/** The owner of the installation: who holds a key of the environment or the password of this machine. */
export const localUser = 'local-user';

export const userId = z
  .string()
  .regex(/^user_[0-9a-f]{12}$|^local-user$/, 'must look like user_0123456789ab')
  .meta({ id: 'UserId' });

export const displayName = text(100, 1);
/** An address to write to. It proves nothing: several users may have the same one. */
export const emailAddress = z.email().max(254);

export const userStatus = z.enum(['active', 'disabled']);

/** A person. */
export const user = z
  .object({
    id: userId,
    displayName: z.string(),
    email: z.string().optional(),
    /** `disabled`: none of the user's credentials is accepted. */
    status: userStatus,
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'User' });
export type User = z.infer<typeof user>;

/** A workspace that the caller may act in, and as what. */
export const ownMembership = z
  .object({
    membershipId,
    workspaceId,
    workspaceName: z.string(),
    role,
    status: membershipStatus,
    joinedAt: timestamp,
  })
  .meta({ id: 'OwnMembership' });
export type OwnMembership = z.infer<typeof ownMembership>;

/** Who the caller is, and the memberships that its credential is good for. */
export const profile = z
  .object({ user, workspaceId, role, memberships: z.array(ownMembership) })
  .meta({ id: 'UserProfile' });
export type Profile = z.infer<typeof profile>;

export const profilePatch = z.strictObject({ displayName }).meta({ id: 'UserProfilePatch' });

export const userQuery = z.strictObject(listPage(50, 200)).meta({ id: 'UserQuery' });
export const userPatch = z.strictObject({ status: userStatus }).meta({ id: 'UserPatch' });
