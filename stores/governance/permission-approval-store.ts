import { createHash } from 'node:crypto';
import type { Filter } from 'mongodb';
import type { PermissionApproval, PermissionApprovalQuery } from '../../contracts/governance/agent-permission';
import { type ScopeFacts, scopeFactsOf } from '../../domain/delegation/scope';
import { compact } from '../../platform/json/compact';
import { offsetOfPage, type Page } from '../../platform/lists/page';
import type { Board } from '../board-files/types';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';
import { insertOrGet } from '../port/insert';

/**
 * `usedFor` names the one thing that was let through, so that a repetition of it finds its approval. `requestedFacts` are those of
 * its task when it was requested, in a process that has the board.
 */
type Document = Stored & Omit<PermissionApproval, 'id'> & { usedFor?: string; requestedFacts?: ScopeFacts };

const present = ({ _id, usedFor: _usedFor, requestedFacts: _facts, ...fields }: Document): PermissionApproval => ({
  id: _id,
  ...fields,
});

/** How long a review counts, in milliseconds: a day. */
export const reviewCountsMs = 86_400_000;

/** Longest history of one action that is searched for the approval of a repetition. */
const searched = 50;

/** Which approval lets an action through. */
export interface ApprovalNeed {
  /** Of exactly this action. */
  subject: string;
  /** Names what is let through; absent when nothing is yet, as in a preview. */
  use?: string;
  at: Date;
}

/** Permissions that agents have requested. */
export async function createPermissionApprovalStore(db: Database, tasks?: Pick<Board, 'get'>) {
  const oldest = { createdAt: 1, _id: 1 } as const;
  const approvals = await db.collection<Document>({
    name: 'permission-approvals',
    indexes: [
      { keys: { status: 1, ...oldest } },
      { keys: { agentId: 1, status: 1, ...oldest } },
      { keys: { subject: 1, createdAt: -1 } },
      { keys: { agentId: 1, action: 1, status: 1, createdAt: -1 } },
    ],
  });

  const counts = ({ reviewedAt = '' }: Document, at: Date): boolean =>
    at.getTime() - Date.parse(reviewedAt) < reviewCountsMs;

  /** Uses an approval for one thing; whether it is used for that. */
  async function use({ _id }: Document, usedFor: string, at: Date): Promise<boolean> {
    const used = await approvals.findOneAndUpdate(
      { _id, status: 'approved', usedFor: { $exists: false } },
      { $set: { usedFor, usedAt: at.toISOString() } },
    );
    return used !== undefined || (await approvals.get(_id))?.usedFor === usedFor;
  }

  async function factsOf(taskId: string | undefined): Promise<Pick<Document, 'requestedFacts'>> {
    const task = taskId === undefined ? undefined : (await tasks?.get(taskId))?.task;
    return task ? { requestedFacts: scopeFactsOf(task) } : {};
  }

  return {
    /**
     * The approval of exactly this action that decides about it now: the one that was used for it already, else the newest that
     * was not used for anything and was not reviewed longer ago than a day. With `use` an approved one is used.
     */
    async decisive({ subject, use: usedFor, at }: ApprovalNeed): Promise<PermissionApproval | undefined> {
      const history = await approvals.find({ subject }, { sort: { createdAt: -1 }, limit: searched });
      const mine = history.find((approval) => usedFor !== undefined && approval.usedFor === usedFor);
      const [newest] = history;
      if (mine ?? !newest) {
        return mine && present(mine);
      }
      if (newest.status !== 'pending' && (newest.usedFor !== undefined || !counts(newest, at))) {
        return undefined;
      }
      const missed = newest.status === 'approved' && usedFor !== undefined && !(await use(newest, usedFor, at));
      return missed ? undefined : present(newest);
    },

    /** Requests an approval of exactly this action, once however many ask at the same time. */
    async requestOnce(
      subject: string,
      fields: Omit<PermissionApproval, 'id' | 'subject'>,
    ): Promise<PermissionApproval> {
      const [newest] = await approvals.find({ subject }, { sort: { createdAt: -1 }, limit: 1 });
      const digits = createHash('sha256')
        .update(`${subject}\n${newest?._id ?? ''}`)
        .digest('hex');
      const facts = await factsOf(fields.taskId);
      const document = { _id: `approval_${digits.slice(0, 12)}`, subject, ...fields, ...facts };
      const first = await insertOrGet<Document>(approvals, document);
      if (first.subject !== subject) {
        throw new Error(`The approval ${first._id} is of another action.`);
      }
      return present(first);
    },

    /** Uses an approval that an agent requested for an action of this name; whether there was one. */
    async useOf(
      { agentId, action, taskId }: Pick<PermissionApproval, 'agentId' | 'action' | 'taskId'>,
      { use: usedFor, at }: Omit<ApprovalNeed, 'subject'>,
    ): Promise<PermissionApproval | undefined> {
      const approved = await approvals.find(
        { agentId, action, status: 'approved' },
        { sort: { createdAt: -1 }, limit: searched },
      );
      for (const approval of approved) {
        const isFor = approval.subject === undefined && (approval.taskId === undefined || approval.taskId === taskId);
        const isFree = approval.usedFor === undefined ? counts(approval, at) : approval.usedFor === usedFor;
        if (isFor && isFree && (usedFor === undefined || (await use(approval, usedFor, at)))) {
          return present(approval);
        }
      }
      return undefined;
    },

    async request({ id, ...fields }: PermissionApproval): Promise<void> {
      await approvals.insert({ _id: id, ...fields, ...(await factsOf(fields.taskId)) });
    },

    async get(id: string): Promise<PermissionApproval | undefined> {
      const record = await approvals.get(id);
      return record && present(record);
    },

    /** What its task was when it was requested; `undefined` when no task was known then. */
    requestedFacts: async (id: string): Promise<ScopeFacts | undefined> => (await approvals.get(id))?.requestedFacts,

    /** Those not reviewed yet, the oldest first. */
    async pending({ agentId, page, limit, cursor }: PermissionApprovalQuery): Promise<Page<PermissionApproval>> {
      const filter: Filter<Document> = { status: 'pending', ...compact({ agentId }) };
      const part = { limit, cursor, offset: offsetOfPage(page, limit) };
      return (await findPage(approvals, { filter, order: { key: 'createdAt', direction: 1 } }, part)).map(present);
    },

    /** The reviewed approval; `undefined` when there is none, or it was reviewed already. */
    async review(
      id: string,
      review: Required<Pick<PermissionApproval, 'reviewedBy' | 'reviewedAt'>> &
        Pick<PermissionApproval, 'note'> & { status: 'approved' | 'rejected' },
    ): Promise<PermissionApproval | undefined> {
      const reviewed = await approvals.findOneAndUpdate({ _id: id, status: 'pending' }, { $set: review });
      return reviewed && present(reviewed);
    },
  };
}

export type PermissionApprovalStore = Awaited<ReturnType<typeof createPermissionApprovalStore>>;
