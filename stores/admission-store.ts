import type { Database } from './collection';
import { DuplicateKeyError } from './errors';

/** The one arbiter of capacity: who holds a run slot. Changed by single compare-and-sets only. */
interface Ledger {
  _id: 'global';
  used: number;
  holders: Record<string, { reservedAt: string }>;
}

/** A launch that waits for capacity; survives everything until it is dispatched or cancelled. */
export interface QueueEntry {
  _id: string;
  taskId: string;
  state: 'queued' | 'dispatched' | 'terminal';
  priority: number;
  enqueuedAt: string;
  endedAt?: string;
}

/** Capacity and the queue for it. The ceiling is a fixed number of runs. */
export async function createAdmissionStore(db: Database, limits: { runs: number }) {
  const ledgers = await db.collection<Ledger>({ name: 'admission-ledger' });
  const queue = await db.collection<QueueEntry>({
    name: 'admission-queue',
    indexes: [{ keys: { state: 1, priority: -1, enqueuedAt: 1 } }],
  });
  try {
    await ledgers.insert({ _id: 'global', used: 0, holders: {} });
  } catch (error) {
    if (!(error instanceof DuplicateKeyError)) throw error;
  }

  return {
    limits,

    /** Reserves one run slot for the attempt in one atomic step; true also when it holds one already. */
    async reserve(attemptId: string, reservedAt: string): Promise<boolean> {
      const holder = `holders.${attemptId}`;
      const changed = await ledgers.findOneAndUpdate(
        { _id: 'global', used: { $lt: limits.runs }, [holder]: { $exists: false } },
        { $inc: { used: 1 }, $set: { [holder]: { reservedAt } } },
      );
      if (changed) return true;
      const ledger = await ledgers.get('global');
      return ledger?.holders[attemptId] !== undefined;
    },

    /** Gives the slot back; once, however often it is called. */
    async release(attemptId: string): Promise<void> {
      const holder = `holders.${attemptId}`;
      await ledgers.findOneAndUpdate(
        { _id: 'global', [holder]: { $exists: true } },
        { $inc: { used: -1 }, $unset: { [holder]: '' } },
      );
    },

    async usage(): Promise<{ used: number; holders: string[] }> {
      const ledger = await ledgers.get('global');
      return { used: ledger?.used ?? 0, holders: Object.keys(ledger?.holders ?? {}) };
    },

    async enqueue(entry: QueueEntry): Promise<void> {
      try {
        await queue.insert(entry);
      } catch (error) {
        if (!(error instanceof DuplicateKeyError)) throw error;
      }
    },

    waiting: (limit: number) => queue.find({ state: 'queued' }, { sort: { priority: -1, enqueuedAt: 1 }, limit }),

    countWaiting: () => queue.count({ state: 'queued' }),

    /** Ends the wait of an entry; false when it had ended before. */
    async settle(attemptId: string, state: 'dispatched' | 'terminal', endedAt: string): Promise<boolean> {
      const changed = await queue.findOneAndUpdate({ _id: attemptId, state: 'queued' }, { $set: { state, endedAt } });
      return changed !== undefined;
    },
  };
}

export type AdmissionStore = Awaited<ReturnType<typeof createAdmissionStore>>;
