import { RefusedError } from '../refusal';
import {
  type Roster,
  rosterLimits,
  type RosterMember,
  withAccepted,
  withChangedMember,
  withInvitation,
  withMember,
  withoutInvitation,
  withoutMember,
} from './roster';

const at = new Date('2026-11-24T12:00:00.000Z');
const aMember = (id: string, fields: Partial<RosterMember> = {}): RosterMember => ({
  id: `member_${id}`,
  userId: `user_${id}`,
  role: 'agent',
  status: 'active',
  joinedAt: at.toISOString(),
  ...fields,
});
const ada = aMember('ada', { role: 'admin' });
const bob = aMember('bob');
const anInvitation = (id: string, minutes = 1) => ({
  id,
  email: `${id}@example.org`,
  role: 'agent' as const,
  expiresAt: new Date(at.getTime() + minutes * 60_000).toISOString(),
});
const roster = (...members: RosterMember[]): Roster => ({ members, invitations: [anInvitation('open')] });

function codeOf(change: () => unknown): string | undefined {
  try {
    change();
    return undefined;
  } catch (error) {
    if (error instanceof RefusedError) {
      return error.refusal.code;
    }
    throw error;
  }
}

describe('the members of a workspace', () => {
  it.each<[string, () => unknown]>([
    ['demoted', () => withChangedMember(roster(ada, bob), ada.id, { role: 'agent' })],
    ['suspended', () => withChangedMember(roster(ada, bob), ada.id, { status: 'suspended' })],
    ['removed', () => withoutMember(roster(ada, bob), ada.id)],
    [
      'demoted beside a suspended one',
      () => withoutMember(roster(ada, { ...ada, id: 'b', status: 'suspended' }), ada.id),
    ],
  ])('have an administrator who cannot be %s', (_change, change) => {
    expect(codeOf(change)).toBe('LAST_ADMIN');
  });

  it('have other administrators who can be demoted', () => {
    const both = roster(ada, aMember('eve', { role: 'admin' }));
    expect(withChangedMember(both, ada.id, { role: 'read-only' }).members[0]).toMatchObject({ role: 'read-only' });
    expect(withoutMember(both, ada.id).members).toHaveLength(1);
  });

  it('are each a member once, and no more than the limit', () => {
    expect(codeOf(() => withMember(roster(ada), { ...ada, id: 'member_2' }))).toBe('ALREADY_MEMBER');
    const full = roster(...Array.from({ length: rosterLimits.members }, (_each, n) => aMember(String(n))));
    expect(codeOf(() => withMember(full, bob))).toBe('IDENTITY_LIMIT_REACHED');
    expect(codeOf(() => withChangedMember(roster(ada), bob.id, { role: 'agent' }))).toBe('NOT_FOUND');
    expect(codeOf(() => withoutMember(roster(ada), bob.id))).toBe('NOT_FOUND');
  });
});

describe('an invitation to a workspace', () => {
  const joining = { id: bob.id, userId: bob.userId };

  it('is used by who accepts it, with its role', () => {
    const joined = withAccepted(roster(ada), 'open', { joining, at });
    expect(joined.members[1]).toEqual({ ...bob, invitationId: 'open' });
    expect(joined.invitations).toEqual([]);
    expect(codeOf(() => withAccepted(joined, 'open', { joining: { ...joining, userId: 'user_x' }, at }))).toBe(
      'INVITATION_NOT_PENDING',
    );
  });

  it('leaves the others open, and gives the role of its own', () => {
    const reader = { ...anInvitation('reader'), role: 'read-only' as const };
    const two = { members: [ada], invitations: [anInvitation('open'), reader] };
    const joined = withAccepted(two, 'reader', { joining, at });
    expect([joined.members[1]?.role, joined.invitations.map(({ id }) => id)]).toEqual(['read-only', ['open']]);
    expect(withoutInvitation(two, 'open', at).invitations).toEqual([reader]);
  });

  it('is refused to a member, once it has expired, and when it is unknown', () => {
    expect(codeOf(() => withAccepted(roster(ada, bob), 'open', { joining, at }))).toBe('ALREADY_MEMBER');
    const later = new Date(at.getTime() + 60_000);
    expect(codeOf(() => withAccepted(roster(ada), 'open', { joining, at: later }))).toBe('INVITATION_NOT_PENDING');
    expect(codeOf(() => withoutInvitation(roster(ada), 'other', at))).toBe('INVITATION_NOT_PENDING');
  });

  it.each<[string, (roster: Roster) => Roster]>([
    ['demoted', (one) => withChangedMember(one, ada.id, { role: 'agent' })],
    ['suspended', (one) => withChangedMember(one, ada.id, { status: 'suspended' })],
    ['removed', (one) => withoutMember(one, ada.id)],
  ])('ends when the administrator who offered it is %s', (_how, change) => {
    const eve = aMember('eve', { role: 'admin' });
    const offered = ['ada', 'eve'].map((by) => ({ ...anInvitation(by), invitedBy: `member_${by}` }));
    const { invitations } = change({ members: [ada, eve, bob], invitations: [...offered, anInvitation('open')] });
    expect(invitations.map(({ id }) => id)).toEqual(['eve', 'open']);
    expect(withoutMember({ members: [ada, bob], invitations: offered }, bob.id).invitations).toHaveLength(1);
  });

  it('is one for each address, and no more than the limit', () => {
    const again = { ...anInvitation('again'), email: 'open@example.org' };
    expect(codeOf(() => withInvitation(roster(ada), again, at))).toBe('INVITATION_PENDING');
    const later = new Date(at.getTime() + 60_000);
    expect(withInvitation(roster(ada), again, later).invitations).toEqual([again]);
    const many = Array.from({ length: rosterLimits.invitations }, (_each, n) => anInvitation(String(n)));
    expect(codeOf(() => withInvitation({ members: [ada], invitations: many }, again, at))).toBe(
      'IDENTITY_LIMIT_REACHED',
    );
  });
});
