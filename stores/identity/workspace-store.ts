import { localWorkspace } from '../../contracts/common';
import { localUser } from '../../contracts/identity/user';
import {
  memberOf,
  type OpenInvitation,
  type Roster,
  type RosterMember,
  withAccepted,
  withChangedMember,
  withInvitation,
  withMember,
  withoutInvitation,
  withoutMember,
} from '../../domain/identity/roster';
import { refusal, RefusedError } from '../../domain/refusal';
import { newRecordId, operationTime } from '../../platform/operations/operation';
import type { Database } from '../port/collection';
import { createConfiguredRecords, ownFields, type Recorded } from '../port/configured-records';
import { StaleRevisionError, StoreUnavailableError } from '../port/errors';

interface WorkspaceFields extends Roster {
  name: string;
}

/** A workspace with everybody in it: who is a member, and as what, is decided by this one record. */
export type WorkspaceRecord = WorkspaceFields & Recorded;

export const maxWorkspaces = 100;

export const newMembershipId = (): string => newRecordId('member');

/** A member, as what it was before, and as what it is now. */
export interface MemberChange {
  before: RosterMember;
  /** Absent when it was removed. */
  after?: RosterMember;
}

/** Tenants. Opening makes the workspace `local`, whose administrator is the owner of the installation. */
export async function createWorkspaceStore(db: Database, now: () => Date = operationTime) {
  const records = await createConfiguredRecords<WorkspaceFields>(db, 'workspaces', now);
  if (!(await records.get(localWorkspace))) {
    await seed();
  }

  async function seed(): Promise<void> {
    try {
      await records.create(localWorkspace, rosterOf('Local', { id: 'member_000000000000', userId: localUser }));
    } catch (error) {
      // Another process was first.
      if (!(error instanceof StaleRevisionError)) {
        throw error;
      }
    }
  }

  function rosterOf(name: string, owner: Pick<RosterMember, 'id' | 'userId'>): WorkspaceFields {
    const joinedAt = now().toISOString();
    return { name, members: [{ ...owner, role: 'admin', status: 'active', joinedAt }], invitations: [] };
  }

  const changeRoster = (id: string, change: (roster: WorkspaceFields) => WorkspaceFields): Promise<WorkspaceRecord> =>
    write(id, (current) => change(ownFields<WorkspaceFields>(current)));

  async function write(id: string, change: (current: WorkspaceRecord) => WorkspaceFields): Promise<WorkspaceRecord> {
    try {
      return await records.change(id, (current) => change(existing(id, current)));
    } catch (error) {
      if (error instanceof StaleRevisionError) {
        // Its refusal would show the whole record to the caller.
        throw new StoreUnavailableError('The workspace is being changed by too many requests at once.');
      }
      throw error;
    }
  }

  /** Changes a member, and returns both sides of the change that was written. */
  async function changed(
    id: string,
    memberId: string,
    change: (roster: WorkspaceFields) => WorkspaceFields,
  ): Promise<MemberChange> {
    let before: RosterMember | undefined;
    const record = await changeRoster(id, (roster) => {
      before = roster.members.find((one) => one.id === memberId);
      return change(roster);
    });
    if (!before) {
      throw new Error(`${memberId} was changed, and is no member.`);
    }
    const after = record.members.find((one) => one.id === memberId);
    return { before, ...(after && { after }) };
  }

  return {
    get: (id: string): Promise<WorkspaceRecord | undefined> => records.get(id),
    exists: async (id: string): Promise<boolean> => (await records.get(id)) !== undefined,
    /** All of them, by id; `maxWorkspaces` at most. */
    list: (): Promise<WorkspaceRecord[]> => records.list(),

    /** The membership of a user; undefined where there is none. */
    async membership(id: string, userId: string): Promise<RosterMember | undefined> {
      const record = await records.get(id);
      return record && memberOf(record, userId);
    },

    /** @throws RefusedError `IDENTITY_LIMIT_REACHED` */
    async create(id: string, name: string, owner: Pick<RosterMember, 'id' | 'userId'>): Promise<WorkspaceRecord> {
      if (!(await records.get(id)) && (await records.list()).length >= maxWorkspaces) {
        const message = `There are ${maxWorkspaces} workspaces at most.`;
        throw new RefusedError(refusal('IDENTITY_LIMIT_REACHED', message, { limit: maxWorkspaces, of: 'workspaces' }));
      }
      return records.create(id, rosterOf(name, owner));
    },

    /** Replaces the name by what `rename` makes of the newest; it may run more than once, and throws to refuse. */
    rename: (id: string, rename: (current: WorkspaceRecord) => string): Promise<WorkspaceRecord> =>
      write(id, (current) => ({ ...ownFields<WorkspaceFields>(current), name: rename(current) })),

    /** @throws RefusedError `NOT_FOUND`, `ALREADY_MEMBER`, `IDENTITY_LIMIT_REACHED` */
    join: (id: string, joining: RosterMember) => changeRoster(id, (roster) => withMember(roster, joining)),

    /** @throws RefusedError `NOT_FOUND`, `LAST_ADMIN` */
    changeMember: (id: string, memberId: string, change: Partial<Pick<RosterMember, 'role' | 'status'>>) =>
      changed(id, memberId, (roster) => withChangedMember(roster, memberId, change)),

    /** @throws RefusedError `NOT_FOUND`, `LAST_ADMIN` */
    removeMember: (id: string, memberId: string) => changed(id, memberId, (roster) => withoutMember(roster, memberId)),

    /** @throws RefusedError `NOT_FOUND`, `INVITATION_PENDING`, `IDENTITY_LIMIT_REACHED` */
    invite: (id: string, offered: OpenInvitation) =>
      changeRoster(id, (roster) => withInvitation(roster, offered, now())),

    /** @throws RefusedError `NOT_FOUND`, `INVITATION_NOT_PENDING` */
    withdrawInvitation: (id: string, invitationId: string) =>
      changeRoster(id, (roster) => withoutInvitation(roster, invitationId, now())),

    /** Uses an invitation and makes its user a member, both or neither. @throws RefusedError */
    accept: (id: string, invitationId: string, joining: Pick<RosterMember, 'id' | 'userId'>) =>
      changeRoster(id, (roster) => withAccepted(roster, invitationId, { joining, at: now() })),
  };
}

/** @throws RefusedError `NOT_FOUND` */
function existing(id: string, record: WorkspaceRecord | undefined): WorkspaceRecord {
  if (!record) {
    const message = `No workspace has the id ${JSON.stringify(id)}.`;
    throw new RefusedError(refusal('NOT_FOUND', message, { resource: 'workspace', id }));
  }
  return record;
}

export type WorkspaceStore = Awaited<ReturnType<typeof createWorkspaceStore>>;
