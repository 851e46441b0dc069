import type { RosterMember } from '../../domain/identity/roster';
import type { ApiContext } from '../context';

export type MembershipRecorder = Pick<ApiContext, 'activity' | 'recordAudit'>;

/** A change of who is in a workspace. */
export interface RecordedMembership {
  actor: string;
  action: 'membership.add' | 'membership.update' | 'membership.remove';
  workspaceId: string;
  before?: RosterMember | undefined;
  after?: RosterMember | undefined;
}

const shown = (member: RosterMember | undefined) => member && { role: member.role, status: member.status };

/** Writes a change of a membership to the audit log and to the activity. */
export async function recordMembership(
  { activity, recordAudit }: MembershipRecorder,
  { actor, action, workspaceId, before, after }: RecordedMembership,
): Promise<void> {
  const member = after ?? before;
  const details = {
    workspaceId,
    userId: member?.userId,
    ...(before && { from: shown(before) }),
    ...(after && { to: shown(after) }),
  };
  const resource = member?.id ?? workspaceId;
  // A member joins once: the repetition of an acceptance is not written twice.
  await recordAudit({ action, actor, resource, details, ...(before ? {} : { once: `${action} ${resource}` }) });
  await activity.record([{ type: 'membership_updated', actor, details: { membershipId: member?.id, ...details } }]);
}
