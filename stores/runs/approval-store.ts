import type { Filter } from 'mongodb';
import type { RunApproval, RunApprovalQuery } from '../../contracts/runs/approval';
import { responseMarker } from '../../contracts/runs/approval';
import type { SealedBox } from '../../platform/crypto/sealed-box';
import { compact } from '../../platform/json/compact';
import { offsetOfPage, type Page } from '../../platform/lists/page';
import type { Database } from '../port/collection';
import { findPage } from '../port/find-page';
import { inPages } from '../port/in-pages';
import { insertOrGet } from '../port/insert';

/** An approval as it is stored: the record that callers see, and its internal fields. */
interface ApprovalRecord extends Omit<RunApproval, 'id'> {
  _id: string;
  /** Public key of the requester that waits for the decision. */
  responseKey?: string;
  /** Response data for the waiting requester, which alone can read it. */
  sealedResponse?: SealedBox;
}

/** How an approval ends. */
export interface ApprovalOutcome {
  decision: 'approved' | 'rejected' | 'expired' | 'cancelled';
  actor: string;
  note?: string;
  sealedResponse?: SealedBox;
}

/** What a decision was made on. */
export interface ExpectedApproval {
  revision: number;
  actionHash: string;
}

/** Records of run approvals (specification 2, run approvals). Retained for good: they record who allowed what. */
export async function createApprovalStore(db: Database) {
  const newest = { createdAt: -1, _id: -1 } as const;
  const approvals = await db.collection<ApprovalRecord>({
    name: 'run-approvals',
    indexes: [
      { keys: { attemptId: 1, ...newest } },
      { keys: { taskId: 1, ...newest } },
      { keys: { agentId: 1, ...newest } },
      { keys: { status: 1, ...newest } },
      { keys: { status: 1, expiresAt: 1 } },
      { keys: { status: 1, _id: 1 } },
      { keys: newest },
    ],
  });

  /** The one way an approval changes: out of `pending`, once. */
  const settle = (
    id: string,
    { filter, outcome, at }: { filter: Filter<ApprovalRecord>; outcome: ApprovalOutcome; at: string },
  ) => {
    const { decision, actor, note, sealedResponse } = outcome;
    return approvals.findOneAndUpdate(
      { ...filter, _id: id, status: 'pending' },
      {
        $set: {
          status: decision,
          updatedAt: at,
          resolution: {
            decision,
            actor,
            decidedAt: at,
            ...compact({ note }),
            ...(sealedResponse === undefined ? {} : { responseData: responseMarker }),
          },
          ...compact({ sealedResponse }),
        },
        $inc: { revision: 1 },
      },
    );
  };

  return {
    /** Stores a request, or returns the approval that has its id already. */
    async open({ id, ...record }: RunApproval, responseKey?: string): Promise<RunApproval> {
      const document: ApprovalRecord = { _id: id, ...record, ...compact({ responseKey }) };
      return present(await insertOrGet(approvals, document));
    },

    async get(id: string): Promise<RunApproval | undefined> {
      const record = await approvals.get(id);
      return record && present(record);
    },

    /** The key that response data is sealed for; `undefined` when the requester takes none. */
    responseKey: async (id: string): Promise<string | undefined> => (await approvals.get(id))?.responseKey,

    /** Records a decision on exactly what was decided about, in time; `undefined` when it is something else by now. */
    async decide(id: string, expected: ExpectedApproval, { outcome, at }: { outcome: ApprovalOutcome; at: string }) {
      const changed = await settle(id, { filter: { ...expected, expiresAt: { $gt: at } }, outcome, at });
      return changed && present(changed);
    },

    /** Ends a pending approval without a decision; one that is no longer pending does not change. */
    async close(id: string, outcome: ApprovalOutcome, at: string): Promise<RunApproval | undefined> {
      const changed = (await settle(id, { filter: {}, outcome, at })) ?? (await approvals.get(id));
      return changed && present(changed);
    },

    /** Ends expired approvals, so that no reader sees as pending what cannot be decided any more. */
    expireDue: (at: string): Promise<number> =>
      approvals.updateMany(
        { status: 'pending', expiresAt: { $lte: at } },
        {
          $set: {
            status: 'expired',
            updatedAt: at,
            resolution: { decision: 'expired', actor: expiryActor, decidedAt: at },
          },
          $inc: { revision: 1 },
        },
      ),

    /** Response data for the waiting requester: returned once, and deleted with that. */
    async takeResponse(id: string): Promise<SealedBox | undefined> {
      const sealed = (await approvals.get(id))?.sealedResponse;
      if (!sealed) {
        return undefined;
      }
      const taken = await approvals.findOneAndUpdate(
        { _id: id, sealedResponse: { $exists: true } },
        { $unset: { sealedResponse: '' } },
      );
      return taken && sealed;
    },

    /** One page, the newest first. */
    async list({ page, limit, cursor, ...filter }: RunApprovalQuery): Promise<Page<RunApproval>> {
      const part = { limit, cursor, offset: offsetOfPage(page, limit) };
      return (await findPage(approvals, { filter, order: { key: 'createdAt', direction: -1 } }, part)).map(present);
    },

    /** Pending approvals of an attempt. */
    async pendingOf(attemptId: string, limit: number): Promise<RunApproval[]> {
      return (await approvals.find({ attemptId, status: 'pending' }, { sort: newest, limit })).map(present);
    },

    /** Pending approvals of all requesters; with `overdueAt`, those whose time is over then. */
    async *pending({
      pageSize,
      overdueAt,
    }: {
      pageSize?: number | undefined;
      overdueAt?: string;
    }): AsyncGenerator<RunApproval> {
      const overdue = overdueAt === undefined ? {} : { expiresAt: { $lt: overdueAt } };
      for await (const record of inPages(approvals, { status: 'pending', ...overdue }, pageSize)) {
        yield present(record);
      }
    },
  };
}

export type ApprovalStore = Awaited<ReturnType<typeof createApprovalStore>>;

/** The actor of an expiry: the approval was not decided in time. */
const expiryActor = 'system:expiry';

function present({ _id, responseKey: _key, sealedResponse: _sealed, ...record }: ApprovalRecord): RunApproval {
  return { id: _id, ...record };
}
