import { calls, has, is, type Remedy } from './remedy';

const members = 'GET /api/identity/workspaces/:workspaceId/members' as const;

/** Refusals about people, workspaces and what they sign in with. */
export const identityRemedies: Record<string, Remedy> = {
  ALREADY_MEMBER: [{ call: 'GET /api/identity/profile', remedy: 'Read the memberships that you have.' }],
  IDENTITY_LIMIT_REACHED: [
    {
      call: members,
      remedy: 'Remove members who are not needed.',
      when: is('of', 'members'),
    },
    {
      call: 'GET /api/identity/workspaces/:workspaceId/invitations',
      remedy: 'Revoke pending invitations that are not needed.',
      when: is('of', 'invitations'),
    },
    {
      call: 'GET /api/identity/workspaces/:workspaceId/api-tokens',
      remedy: 'Revoke API tokens that are not needed.',
      when: calls('/api-tokens'),
    },
    {
      call: 'GET /api/identity/workspaces/:workspaceId/device-sessions',
      remedy: 'Revoke devices that are not needed; open pairing codes expire within minutes.',
      when: has('workspaceId'),
    },
    { call: 'repeat', remedy: 'Repeat the request when there are fewer of what details.of names.' },
  ],
  INVITATION_NOT_PENDING: [
    { call: 'GET /api/identity/profile', remedy: 'Read the memberships that you have; ask for another invitation.' },
  ],
  INVITATION_PENDING: [
    {
      call: 'POST /api/identity/invitations/:id/revoke',
      remedy: 'Revoke the pending invitation, and create another one.',
      ids: { id: ['invitationId'] },
    },
  ],
  LAST_ADMIN: [{ call: members, remedy: 'Choose another member, and set its role to admin first.' }],
  LOCAL_USER: { none: 'Keys of the configuration are withdrawn by changing the configuration.' },
  NAME_TAKEN: [
    {
      call: 'GET /api/identity/workspaces/:workspaceId/api-tokens',
      remedy: 'Read which API tokens there are; rotate or revoke the one of this name.',
    },
  ],
  NOT_A_MEMBER: [
    {
      call: 'POST /api/identity/workspaces/:workspaceId/invitations',
      remedy: 'Invite the user, who accepts it; an administrator of the workspace may.',
    },
  ],
  NO_OWN_TOKEN: [
    {
      call: 'GET /api/identity/workspaces/:workspaceId/api-tokens',
      remedy: 'Read the API tokens of the workspace; rotate one with POST …/rotate.',
    },
  ],
  PAIRING_CODE_USED: { none: 'A code pairs one device; an administrator makes another one.' },
  PAIRING_NONCE_USED: [{ call: 'repeat', remedy: 'Sign the request again with a nonce that was never used.' }],
  SESSION_ENDED: [{ call: 'POST /api/auth/login', remedy: 'Sign in again, and select the workspace then.' }],
  TOKEN_NOT_ACTIVE: [
    {
      call: 'GET /api/identity/workspaces/:workspaceId/api-tokens',
      remedy: 'Read the state of the API tokens; create another one.',
    },
  ],
  WORKSPACE_BOUND: [
    { call: 'GET /api/identity/workspaces', remedy: 'Read which workspace the credential is for; use another one.' },
  ],
  WORKSPACE_NOT_SELECTED: [
    {
      call: 'POST /api/identity/workspaces/switch',
      remedy: 'Select the workspace for the session.',
      body: { workspaceId: 'workspaceId' },
    },
  ],
};
