import type { IssueSyncFailure, IssueSyncMode, IssueSyncReport } from '../../contracts/integrations/issue-sync';
import { compact } from '../../platform/json/compact';
import type { Database, Stored } from '../port/collection';
import { createConfiguredRecords, type Recorded } from '../port/configured-records';
import { insertOnce } from '../port/insert';
import { setAndUnset } from './set-and-unset';

/** How the issues of a configured repository are synchronised; the id is the name of the repository. */
export interface IssueSyncFields {
  enabled: boolean;
  syncMode: IssueSyncMode;
  labelFilter: string | null;
  pollIntervalMs: number;
  /** Absent in configurations that are older than the setting: they are. */
  pullRequests?: boolean;
  comments?: boolean;
  /** When `comments` was set. */
  commentsSince?: string | null;
  updatedBy: string;
}
export type IssueSyncRecord = IssueSyncFields & Recorded;

/** How far a synchronisation has come, which changes in each round and is no change of its configuration. */
export interface IssueSyncProgress {
  /** What the cursor is of: the repository at its forge, and the filter. */
  cursorOf?: string;
  /** When the issue that was read last was changed. */
  cursor?: string;
  lastReport?: IssueSyncReport;
  failure?: IssueSyncFailure;
}

interface Delivery extends Stored {
  receivedAt: string;
}

/** How long a delivery of a webhook is known, in seconds: forges send one again for some days. */
const deliveryLifetimeSeconds = 7 * 86_400;

export async function createIssueSyncStore(db: Database) {
  const configs = await createConfiguredRecords<IssueSyncFields>(db, 'issue-syncs');
  const progress = await db.collection<Stored & IssueSyncProgress>({ name: 'issue-sync-progress' });
  const deliveries = await db.collection<Delivery>({
    name: 'issue-webhook-deliveries',
    expire: { field: 'receivedAt', afterSeconds: deliveryLifetimeSeconds },
  });

  const write = async (repo: string, fields: IssueSyncProgress, removed: (keyof IssueSyncProgress)[] = []) => {
    const update = setAndUnset(compact(fields), removed);
    await progress.findOneAndUpdate({ _id: repo }, update as never, { upsert: true });
  };

  return {
    configs,

    async progressOf(repo: string): Promise<IssueSyncProgress> {
      const found = await progress.get(repo);
      if (!found) {
        return {};
      }
      const { _id, ...fields } = found;
      return fields;
    },

    /** Where the next round reads on. */
    moveCursor: (repo: string, at: { cursorOf: string; cursor: string }) => write(repo, at),

    /** A round has come to its end. */
    report: (repo: string, lastReport: IssueSyncReport) => write(repo, { lastReport }, ['failure']),

    /** A round has ended early. */
    fail: (repo: string, failure: IssueSyncFailure) => write(repo, { failure }),

    /** Whether a delivery was processed before. */
    isProcessed: async (repo: string, deliveryId: string): Promise<boolean> =>
      (await deliveries.get(`${repo} ${deliveryId}`)) !== undefined,

    /** Records that a delivery was processed. */
    async processed(repo: string, deliveryId: string, now: Date): Promise<void> {
      await insertOnce(deliveries, { _id: `${repo} ${deliveryId}`, receivedAt: now.toISOString() });
    },
  };
}

export type IssueSyncStore = Awaited<ReturnType<typeof createIssueSyncStore>>;
