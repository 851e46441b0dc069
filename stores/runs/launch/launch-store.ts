import { createHash } from 'node:crypto';
import type { LaunchOutcome } from '../../../contracts/runs/launch/launch';
import type { Database } from '../../port/collection';
import { insertOrGet } from '../../port/insert';

/** A launch requested under an idempotency key: its attempt and its request. */
export interface LaunchClaim {
  _id: string;
  taskId: string;
  attemptId: string;
  requestDigest: string;
  createdAt: string;
  /** The response to the caller; the same for every repetition. */
  outcome?: LaunchOutcome;
}

const keyHash = (taskId: string, key: string) => createHash('sha256').update(`${taskId}\n${key}`).digest('hex');

/** Idempotency keys of launches. Only the SHA-256 of a key is ever stored; claims are retained for good. */
export async function createLaunchStore(db: Database) {
  const launches = await db.collection<LaunchClaim>({ name: 'launches' });
  return {
    /** Claims the key for `attemptId`, or returns the claim that was there first. */
    claim: (key: string, claim: Omit<LaunchClaim, '_id'>): Promise<LaunchClaim> =>
      insertOrGet(launches, { _id: keyHash(claim.taskId, key), ...claim }),

    find: (taskId: string, key: string) => launches.get(keyHash(taskId, key)),

    /** Records the outcome; the first one wins. */
    settle: (taskId: string, key: string, outcome: LaunchOutcome) =>
      launches.findOneAndUpdate({ _id: keyHash(taskId, key), outcome: { $exists: false } }, { $set: { outcome } }),
  };
}

export type LaunchStore = Awaited<ReturnType<typeof createLaunchStore>>;
