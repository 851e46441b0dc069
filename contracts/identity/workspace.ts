import { z } from 'zod';
import { revision, text, timestamp } from '../common';
import { role } from '../permissions';
import { listPage } from '../query';

/** `local`, where there is nothing else, and `ws-<12 digits>` of those that were created. */
export const workspaceId = z
  .string()
  .max(40)
  .regex(/^[a-z][a-z0-9-]*$/, 'must look like ws-0123456789ab')
  .meta({ id: 'WorkspaceId' });

export const membershipId = z
  .string()
  .regex(/^member_[0-9a-f]{12}$/, 'must look like member_0123456789ab')
  .meta({ id: 'MembershipId' });

export const membershipStatus = z.enum(['active', 'suspended']);

const name = text(100, 1);

/** A tenant: the people and credentials that share a board. */
export const workspace = z
  .object({
    id: workspaceId,
    name: z.string(),
    revision,
    createdAt: timestamp,
    updatedAt: timestamp,
    /** The caller's membership; absent for an administrator of the installation who has none. */
    membership: z.object({ membershipId, role, status: membershipStatus }).optional(),
  })
  .meta({ id: 'Workspace' });
export type Workspace = z.infer<typeof workspace>;

export const workspaceParams = z.strictObject({ workspaceId });
export const workspaceQuery = z.strictObject(listPage(50, 200)).meta({ id: 'WorkspaceQuery' });
export const workspaceCreate = z.strictObject({ name }).meta({ id: 'WorkspaceCreate' });
export const workspacePatch = z
  .strictObject({ name, expectedRevision: revision.optional() })
  .meta({ id: 'WorkspacePatch' });
export const workspaceSwitch = z.strictObject({ workspaceId }).meta({ id: 'WorkspaceSwitch' });

/** The workspace that the caller acts in, and what it may do there. */
export const selectedWorkspace = z
  .object({ workspaceId, membershipId: membershipId.optional(), role, permissions: z.array(z.string()).readonly() })
  .meta({ id: 'SelectedWorkspace' });

/** A person in a workspace. */
export const member = z
  .object({
    id: membershipId,
    userId: z.string(),
    displayName: z.string(),
    /** For administrators only. */
    email: z.string().optional(),
    role,
    status: membershipStatus,
    joinedAt: timestamp,
  })
  .meta({ id: 'Member' });
export type Member = z.infer<typeof member>;

export const memberParams = z.strictObject({ workspaceId, memberId: membershipId });
/** Active members unless `status` asks for the suspended ones. */
export const memberQuery = z
  .strictObject({ status: membershipStatus.default('active'), ...listPage(50, 200) })
  .meta({ id: 'MemberQuery' });
export const memberPatch = z
  .strictObject({ role: role.optional(), status: membershipStatus.optional() })
  .refine((patch) => Object.keys(patch).length > 0, 'must change the role or the status')
  .meta({ id: 'MemberPatch' });
export type MemberPatch = z.infer<typeof memberPatch>;
