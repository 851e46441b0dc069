import type { TrustDecision } from '../../../contracts/runs/trust';
import type { Page, PageRequest } from '../../../platform/lists/page';
import { newRecordId } from '../../../platform/operations/operation';
import type { Database } from '../../port/collection';
import { findPage } from '../../port/find-page';
import { insertOnce } from '../../port/insert';

type DecisionRecord = Omit<TrustDecision, 'id'> & { _id: string };
export type NewTrustDecision = Omit<TrustDecision, 'schemaVersion' | 'id' | 'sequence' | 'supersedes'>;

/** Decisions about what workspaces bring. A record is never changed; each inventory's are numbered. */
export async function createTrustStore(db: Database) {
  const decisions = await db.collection<DecisionRecord>({
    name: 'workspace-trust-decisions',
    indexes: [
      { keys: { repository: 1, inventoryDigest: 1, sequence: -1 }, unique: true },
      { keys: { repository: 1, decidedAt: -1, _id: -1 } },
    ],
  });

  return {
    /** The decision that counts for this very inventory. */
    async latest(repository: string, inventoryDigest: string): Promise<TrustDecision | undefined> {
      const [record] = await decisions.find({ repository, inventoryDigest }, { sort: { sequence: -1 }, limit: 1 });
      return record && present(record);
    },

    /** The newest first. */
    async history(repository: string, part: PageRequest): Promise<Page<TrustDecision>> {
      return (
        await findPage(decisions, { filter: { repository }, order: { key: 'decidedAt', direction: -1 } }, part)
      ).map(present);
    },

    /** Adds a decision after exactly `previous`; `undefined` when another writer has decided meanwhile. */
    async add(
      previous: Pick<TrustDecision, 'id' | 'sequence'> | undefined,
      decision: NewTrustDecision,
    ): Promise<TrustDecision | undefined> {
      const record: DecisionRecord = {
        _id: newRecordId('trust', 16),
        schemaVersion: 'workspace-trust-decision/v1',
        ...decision,
        sequence: (previous?.sequence ?? 0) + 1,
        supersedes: previous?.id ?? null,
      };
      return (await insertOnce(decisions, record)) ? present(record) : undefined;
    },
  };
}

export type TrustStore = Awaited<ReturnType<typeof createTrustStore>>;

const present = ({ _id, ...decision }: DecisionRecord): TrustDecision => ({ id: _id, ...decision });
