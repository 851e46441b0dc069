import type { Filter } from 'mongodb';
import type { PermissionApproval, PermissionApprovalQuery } from '../../contracts/governance/agent-permission';
import { compact } from '../../platform/json/compact';
import { offsetOfPage, type Page } from '../../platform/lists/page';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';

type Document = Stored & Omit<PermissionApproval, 'id'>;

const present = ({ _id, ...fields }: Document): PermissionApproval => ({ id: _id, ...fields });

/** Permissions that agents have requested. */
export async function createPermissionApprovalStore(db: Database) {
  const oldest = { createdAt: 1, _id: 1 } as const;
  const approvals = await db.collection<Document>({
    name: 'permission-approvals',
    indexes: [{ keys: { status: 1, ...oldest } }, { keys: { agentId: 1, status: 1, ...oldest } }],
  });

  return {
    async request({ id, ...fields }: PermissionApproval): Promise<void> {
      await approvals.insert({ _id: id, ...fields });
    },

    async get(id: string): Promise<PermissionApproval | undefined> {
      const record = await approvals.get(id);
      return record && present(record);
    },

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
