import { newMembershipId } from '../../../stores/identity/workspace-store';
import type { ApiUnderTest } from '../api-under-test';
import { type ListCase, posting } from './list-case';

const local = '/api/identity/workspaces/local';
const at = () => new Date().toISOString();

const joining = async ({ api }: ApiUnderTest): Promise<void> => {
  const id = newMembershipId();
  await api.context.workspaces.join('local', { id, userId: id, role: 'agent', status: 'active', joinedAt: at() });
};

const pairing = async ({ api }: ApiUnderTest, n: number): Promise<void> => {
  const token = { id: String(n).padStart(24, '0'), secret: 'listed' };
  await api.context.devices.createOnce(
    {
      ...{ workspaceId: 'local', userId: 'local-user', membershipId: 'member_000000000000', deviceName: `Phone ${n}` },
      ...{ deviceId: `phone-${n}`, clientId: 'app', clientMode: 'mobile', capabilities: [], role: 'agent' },
      ...{ scopes: ['task:read'], keyFingerprint: 'a'.repeat(64) },
    },
    token,
  );
};

/** People, and what they sign in with. */
export const identityCases: ListCase[] = [
  {
    operation: 'listUsers',
    path: '/api/identity/users',
    add: ({ api }, n) =>
      api.context.users.create(`user_${String(n).padStart(12, '0')}`, { displayName: `Person ${n}` }),
  },
  {
    operation: 'listWorkspaces',
    path: '/api/identity/workspaces',
    add: ({ api }, n) =>
      api.context.workspaces.create(`ws-${n}`, `Workspace ${n}`, { id: newMembershipId(), userId: 'local-user' }),
  },
  { operation: 'listMembers', path: `${local}/members`, add: joining },
  {
    operation: 'listInvitations',
    path: `${local}/invitations`,
    add: posting(`${local}/invitations`, (n) => ({ email: `person-${n}@example.org`, role: 'agent' })),
  },
  {
    operation: 'listApiTokens',
    path: `${local}/api-tokens`,
    add: posting(`${local}/api-tokens`, (n) => ({ name: `listed-${n}`, role: 'agent' })),
  },
  { operation: 'listDeviceSessions', path: `${local}/device-sessions`, add: pairing },
];
