import { z } from 'zod';
import {
  acceptedInvitation,
  createdInvitation,
  type Invitation,
  invitation,
  invitationAccept,
  invitationAcceptNew,
  invitationCreate,
  invitationParams,
  invitationQuery,
} from '../../../contracts/identity/invitation';
import { workspaceParams } from '../../../contracts/identity/workspace';
import { rolePermissions } from '../../../contracts/permissions';
import { memberOf } from '../../../domain/identity/roster';
import { RefusedError } from '../../../domain/refusal';
import { AppError, assertFound } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import type { InvitationRecord } from '../../../stores/identity/invitation-store';
import type { WorkspaceRecord } from '../../../stores/identity/workspace-store';
import type { ApiContext } from '../../context';
import { plainField } from '../../tasks/tasks/plain-text';
import { assertMayGrant, assertPerson, canSwitch, isInstallationAdmin, workspaceOf } from '../caller';
import { createRedemptions } from '../redemption';
import { acceptAsNewUser, acceptAsUser, type AcceptContext } from './accept';

const tag = 'identity';
const permission = 'admin:manage';
const path = '/identity/workspaces/:workspaceId/invitations';

/** How people come into a workspace. */
export function invitationRoutes(
  routes: Routes,
  context: AcceptContext & Pick<ApiContext, 'env' | 'rates' | 'recordAudit'>,
): void {
  const { invitations, workspaces, users, now } = context;
  const redeem = createRedemptions(context);

  routes.add(
    {
      method: 'get',
      path,
      operationId: 'listInvitations',
      summary: 'List the invitations to a workspace, newest first',
      tag,
      permission,
      params: workspaceParams,
      query: invitationQuery,
      response: z.array(invitation),
      errors: [409],
    },
    async ({ auth, params, query }) => {
      const workspace = await workspaceOf(context, auth, params.workspaceId);
      const page = await invitations.list(workspace.id, query);
      return page.map((record) => present(record, workspace, now()));
    },
  );

  routes.add(
    {
      method: 'post',
      path,
      operationId: 'createInvitation',
      // A token is returned once and stored nowhere: a repetition makes another one.
      idempotency: 'none',
      summary: 'Create an invitation to a workspace; its token is shown once',
      tag,
      permission,
      params: workspaceParams,
      body: invitationCreate,
      response: createdInvitation,
      status: 201,
      errors: [409],
      audit: ({ body }, { id, workspaceId }) => ({
        action: 'invitation.create',
        resource: id,
        details: { workspaceId, ...body },
      }),
    },
    async ({ auth, params, body: { email: address, role } }) => {
      const workspace = await workspaceOf(context, auth, params.workspaceId);
      assertMayGrant(auth, rolePermissions[role]);
      const email = address.toLowerCase();
      const created = await invitations.create({ workspaceId: workspace.id, email, role, createdBy: auth.actor });
      const { _id: id, expiresAt } = created.record;
      try {
        const invitedBy = isInstallationAdmin(auth) ? undefined : memberOf(workspace, auth.userId)?.id;
        const offered = await workspaces.invite(workspace.id, compact({ id, email, role, expiresAt, invitedBy }));
        return { ...present(created.record, offered, now()), token: created.token };
      } catch (error) {
        if (error instanceof RefusedError) {
          await invitations.remove(id);
        }
        throw error;
      }
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/identity/invitations/:id/revoke',
      operationId: 'revokeInvitation',
      summary: 'Revoke a pending invitation',
      tag,
      permission,
      params: invitationParams,
      response: invitation,
      errors: [409],
      audit: ({ params }) => ({ action: 'invitation.revoke', resource: params.id }),
    },
    async ({ auth, params: { id } }) => {
      const stored = await invitations.get(id);
      const record = stored && (await ownWorkspace(auth, stored.workspaceId)) ? stored : undefined;
      assertFound(record, 'invitation', id);
      const workspace = await workspaces.withdrawInvitation(record.workspaceId, id);
      const revoked = await invitations.noteRevoked(id, auth.actor);
      return present(revoked ?? record, workspace, now());
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/identity/invitations/accept',
      operationId: 'acceptInvitation',
      idempotency: 'none',
      summary: 'Accept an invitation as the user who is signed in',
      tag,
      permission: 'workspace:read',
      ownAccount: true,
      body: invitationAccept,
      response: acceptedInvitation,
      errors: [404, 409, 429],
    },
    ({ auth, body: { token } }, ctx) => {
      assertPerson(auth);
      return redeem(ctx, { what: 'invitation', code: token }, async () => {
        const user = await users.get(auth.userId);
        assertFound(user, 'user', auth.userId);
        return acceptAsUser(context, token, { user, needsToken: !canSwitch(auth) && auth.tokenId !== undefined });
      });
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/auth/invitations/accept',
      operationId: 'acceptInvitationAsNewUser',
      idempotency: 'none',
      summary: 'Accept an invitation without a credential; the response has the API token to sign in with',
      tag: 'auth',
      permission: 'public',
      body: invitationAcceptNew,
      response: acceptedInvitation,
      status: 201,
      errors: [409, 429],
    },
    ({ body }, ctx) =>
      redeem(ctx, { what: 'invitation', code: body.token }, () =>
        acceptAsNewUser(context, { ...body, displayName: plainField(body.displayName, 'displayName') }),
      ),
  );

  /** Undefined where the workspace is none of the caller's: what is in it is as if it were not there. */
  async function ownWorkspace(auth: AuthContext, workspaceId: string): Promise<WorkspaceRecord | undefined> {
    try {
      return await workspaceOf(context, auth, workspaceId);
    } catch (error) {
      if (error instanceof AppError && error.status === 404) {
        return undefined;
      }
      throw error;
    }
  }
}

function present(record: InvitationRecord, workspace: WorkspaceRecord, at: Date): Invitation {
  const { _id: id, hash: _hash, ...fields } = record;
  return { id, ...fields, state: stateOf(record, workspace, at) };
}

/** The workspace decides: it knows which invitations are open, and who came by which. */
function stateOf(
  { _id: id, expiresAt, acceptedAt, revokedAt }: InvitationRecord,
  { invitations, members }: WorkspaceRecord,
  at: Date,
): Invitation['state'] {
  if (acceptedAt !== undefined || members.some(({ invitationId }) => invitationId === id)) {
    return 'accepted';
  }
  if (revokedAt !== undefined) {
    return 'revoked';
  }
  if (Date.parse(expiresAt) <= at.getTime()) {
    return 'expired';
  }
  return invitations.some((one) => one.id === id) ? 'pending' : 'revoked';
}
