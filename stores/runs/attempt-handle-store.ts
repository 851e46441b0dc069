import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Database, Stored } from '../port/collection';

interface AttemptHandle extends Stored {
  /** SHA-256 of the handle as base64url. */
  hash: string;
  issuedAt: string;
}

const sha256 = (handle: string): Buffer => createHash('sha256').update(handle).digest();

/** The attempt and 256 random bits, in a shape that is redacted wherever it is recorded by mistake. */
const newHandle = (attemptId: string): string => `rbah_${attemptId}_${randomBytes(32).toString('base64url')}`;

const shape = /^rbah_(attempt_[A-Za-z0-9]{8,26})_[A-Za-z0-9_-]{43}$/;

/** Credentials that agents act with in the name of their attempt, one for each. Only hashes are stored. */
export async function createAttemptHandleStore(db: Database, now: () => Date = () => new Date()) {
  const handles = await db.collection<AttemptHandle>({ name: 'attempt-handles' });
  return {
    /** Issues the handle of an attempt whose agent is to be started; one before it counts no more. */
    async issue(attemptId: string): Promise<string> {
      const handle = newHandle(attemptId);
      const fields = { hash: sha256(handle).toString('base64url'), issuedAt: now().toISOString() };
      await handles.findOneAndUpdate({ _id: attemptId }, { $set: fields }, { upsert: true });
      return handle;
    },

    /** Whose handle it is, compared in constant time; whether that attempt still has an agent is another question. */
    async attemptOf(handle: string): Promise<string | undefined> {
      const attemptId = shape.exec(handle)?.[1];
      const stored = attemptId === undefined ? undefined : await handles.get(attemptId);
      return stored && timingSafeEqual(Buffer.from(stored.hash, 'base64url'), sha256(handle)) ? stored._id : undefined;
    },

    /** Nothing can be done with the handle of this attempt any more; without one it stays so. */
    revoke: (attemptId: string) => handles.deleteMany({ _id: attemptId }),
  };
}

export type AttemptHandleStore = Awaited<ReturnType<typeof createAttemptHandleStore>>;
