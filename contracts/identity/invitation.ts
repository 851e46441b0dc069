import { z } from 'zod';
import { timestamp } from '../common';
import { role } from '../permissions';
import { listPage } from '../query';
import { issuedToken } from './token';
import { displayName, emailAddress, user } from './user';
import { membershipId, workspaceId } from './workspace';

export const invitationId = z
  .string()
  .regex(/^invitation_[0-9a-f]{24}$/, 'must look like invitation_ and 24 hexadecimal digits')
  .meta({ id: 'InvitationId' });

export const invitationState = z.enum(['pending', 'accepted', 'revoked', 'expired']);

/** An offer to join a workspace. */
export const invitation = z
  .object({
    id: invitationId,
    workspaceId,
    email: z.string(),
    role,
    state: invitationState,
    createdAt: timestamp,
    createdBy: z.string(),
    expiresAt: timestamp,
    acceptedAt: timestamp.optional(),
    acceptedBy: z.string().optional(),
    revokedAt: timestamp.optional(),
    revokedBy: z.string().optional(),
  })
  .meta({ id: 'Invitation' });
export type Invitation = z.infer<typeof invitation>;

export const invitationQuery = z.strictObject(listPage(50, 200)).meta({ id: 'InvitationQuery' });
export const invitationParams = z.strictObject({ id: invitationId });
export const invitationCreate = z.strictObject({ email: emailAddress, role }).meta({ id: 'InvitationCreate' });

/** The only response that ever has the token. */
export const createdInvitation = invitation.extend({ token: z.string() }).meta({ id: 'CreatedInvitation' });

/** As it is presented; whether it is one is decided with its hash. */
const presentedToken = z.string().min(1).max(200);

export const invitationAccept = z.strictObject({ token: presentedToken }).meta({ id: 'InvitationAccept' });
export const invitationAcceptNew = z
  .strictObject({ token: presentedToken, displayName, email: emailAddress })
  .meta({ id: 'InvitationAcceptNew' });

/** The membership, and an API token for it where the caller's own credential cannot be used there. */
export const acceptedInvitation = z
  .object({ workspaceId, membershipId, role, user, apiToken: issuedToken.optional() })
  .meta({ id: 'AcceptedInvitation' });
export type AcceptedInvitation = z.infer<typeof acceptedInvitation>;
