import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { localWorkspace } from '../../contracts/common';
import type { Database, Stored } from '../port/collection';

interface AttemptHandle extends Stored {
  /** SHA-256 of the handle as base64url. */
  hash: string;
  issuedAt: string;
}

const sha256 = (handle: string): Buffer => createHash('sha256').update(handle).digest();

/**
 * The workspace unless it is `local`, the attempt and 256 random bits, in a shape that is redacted wherever it is recorded by
 * mistake.
 */
const newHandle = (workspaceId: string, attemptId: string): string =>
  `rbah_${workspaceId === localWorkspace ? '' : `${workspaceId}_`}${attemptId}_${randomBytes(32).toString('base64url')}`;

const shape = /^rbah_(?:(ws-[a-z0-9]{4,32})_)?(attempt_[A-Za-z0-9]{8,26})_[A-Za-z0-9_-]{43}$/;

/** The workspace whose stores know a handle; undefined for what is none. */
export function workspaceOfHandle(handle: string): string | undefined {
  const parts = shape.exec(handle);
  return parts ? (parts[1] ?? localWorkspace) : undefined;
}

/** Credentials that agents act with in the name of their attempt, one for each. Only hashes are stored. */
export async function createAttemptHandleStore(
  db: Database,
  { workspaceId, now = () => new Date() }: { workspaceId: string; now?: () => Date },
) {
  const handles = await db.collection<AttemptHandle>({ name: 'attempt-handles' });
  return {
    /** Issues the handle of an attempt whose agent is to be started; one before it counts no more. */
    async issue(attemptId: string): Promise<string> {
      const handle = newHandle(workspaceId, attemptId);
      const fields = { hash: sha256(handle).toString('base64url'), issuedAt: now().toISOString() };
      await handles.findOneAndUpdate({ _id: attemptId }, { $set: fields }, { upsert: true });
      return handle;
    },

    /** Whose handle it is, compared in constant time; whether that attempt still has an agent is another question. */
    async attemptOf(handle: string): Promise<string | undefined> {
      const [, whose = localWorkspace, attemptId] = shape.exec(handle) ?? [];
      const isOwn = attemptId !== undefined && whose === workspaceId;
      const stored = isOwn ? await handles.get(attemptId) : undefined;
      return stored && timingSafeEqual(Buffer.from(stored.hash, 'base64url'), sha256(handle)) ? stored._id : undefined;
    },

    /** Nothing can be done with the handle of this attempt any more; without one it stays so. */
    revoke: (attemptId: string) => handles.deleteMany({ _id: attemptId }),
  };
}

export type AttemptHandleStore = Awaited<ReturnType<typeof createAttemptHandleStore>>;
