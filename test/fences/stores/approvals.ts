import type { RunApproval } from '../../../contracts/runs/approval';
import { newApproval } from '../../../domain/approvals/record';
import { createSealedBoxKey, seal } from '../../../platform/crypto/sealed-box';
import { compact } from '../../../platform/json/compact';
import { type ApprovalOutcome, type ApprovalStore, createApprovalStore } from '../../../stores/runs/approval-store';
import { anApprovalRequest } from '../../support/factories/approval';
import { taskId } from '../../support/factories/records';
import { type Interleaving, interleaving } from '../interleaving';
import type { OpenStore } from './open-store';

const run = { taskId, attemptId: 'attempt_fence000001' };
const later = (approval: RunApproval, ms: number) => new Date(Date.parse(approval.expiresAt) + ms).toISOString();
const outcome = (decision: ApprovalOutcome['decision'], actor: string): ApprovalOutcome => ({ decision, actor });

/** An approval is decided once, on what was decided about, and in time. */
export function approvalFences(open: OpenStore): void {
  describe('approvals', () => {
    let db: Interleaving;
    let store: ApprovalStore;
    let pending: RunApproval;
    let other: RunApproval;
    beforeEach(async () => {
      db = interleaving(await open());
      store = await createApprovalStore(db);
      pending = await store.open(newApproval(anApprovalRequest(run), new Date()));
      other = await store.open(
        newApproval(anApprovalRequest({ ...run, attemptId: 'attempt_fence000002' }), new Date()),
      );
    });
    afterEach(() => db.close());

    const decide = (actor: string, fields: Partial<RunApproval> = {}, ms = -1) => {
      const { revision, actionHash } = { ...pending, ...fields };
      return store.decide(
        pending.id,
        { revision, actionHash },
        { outcome: outcome('approved', actor), at: later(pending, ms) },
      );
    };

    it('is opened once: the same request finds the stored one', async () => {
      await decide('ada');
      expect(await store.open(pending)).toMatchObject({ status: 'approved', revision: pending.revision + 1 });
    });

    it('is decided by exactly one of those who decide at once', async () => {
      const answers = await Promise.all(['ada', 'bob', 'eve'].map((actor) => decide(actor)));
      const winners = answers.filter((approval) => approval !== undefined);
      expect(winners).toHaveLength(1);
      expect((await store.get(pending.id))?.resolution).toEqual(winners[0]?.resolution);
      expect(await store.get(other.id)).toEqual(other);
    });

    it('is not decided again on the revision that the decision made', async () => {
      const decided = await decide('ada');
      expect(await decide('eve', { revision: decided!.revision })).toBeUndefined();
    });

    it.each([
      ['another revision', { revision: 7 }],
      ['another action', { actionHash: `sha256:${'0'.repeat(64)}` }],
    ])('is not decided on %s', async (_, fields) => {
      expect(await decide('ada', fields)).toBeUndefined();
      expect(await store.get(pending.id)).toEqual(pending);
    });

    it('is not decided once its time is over', async () => {
      expect(await decide('ada', {}, 0)).toBeUndefined();
      expect(await decide('ada', {}, 1)).toBeUndefined();
      expect(await store.get(pending.id)).toEqual(pending);
    });

    it('is closed without a decision only while there is no decision', async () => {
      await decide('ada');
      const closed = await store.close(pending.id, outcome('cancelled', 'system'), later(pending, 1));
      expect(closed).toMatchObject({ status: 'approved', resolution: { actor: 'ada' } });
      expect(await store.close('approval_none', outcome('cancelled', 'system'), later(pending, 1))).toBeUndefined();
      const open = await store.close(other.id, outcome('cancelled', 'system'), later(other, -5));
      expect(open).toMatchObject({ status: 'cancelled' });
    });

    it('expires when its time is over without a decision, once', async () => {
      expect(await store.expireDue(later(pending, -1))).toBe(0);
      await decide('ada');
      expect(await store.expireDue(later(other, 0))).toBe(1);
      expect(await store.get(pending.id)).toMatchObject({ status: 'approved' });
      const expired = await store.get(other.id);
      expect(expired).toMatchObject({ status: 'expired', resolution: { decision: 'expired' } });
      expect(await store.expireDue(later(other, 9))).toBe(0);
      expect(await store.get(other.id)).toEqual(expired);
    });

    it('is listed as pending until it is decided, as overdue from its end on', async () => {
      const pendingIds = async (overdueAt?: string) => {
        const ids: string[] = [];
        for await (const { id } of store.pending(compact({ overdueAt }))) {
          ids.push(id);
        }
        return ids;
      };
      expect((await pendingIds()).sort()).toEqual([pending.id, other.id].sort());
      expect(await pendingIds(pending.createdAt)).toEqual([]);
      await decide('ada');
      expect([await pendingIds(), await pendingIds(later(other, 1))]).toEqual([[other.id], [other.id]]);
    });

    it('hands sealed data to who is first, also when two take them at the same moment', async () => {
      const { publicKey } = createSealedBoxKey();
      const sealedResponse = seal(publicKey, '{}', 'context');
      expect(await store.takeResponse(pending.id)).toBeUndefined();
      await store.close(pending.id, { ...outcome('approved', 'ada'), sealedResponse }, later(pending, -5));
      db.before('run-approvals', 'findOneAndUpdate', async () => {
        expect(await store.takeResponse(pending.id)).toEqual(sealedResponse);
      });
      expect(await store.takeResponse(pending.id)).toBeUndefined();
      expect(await store.get(pending.id)).toMatchObject({ status: 'approved' });
    });
  });
}
