import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { localWorkspace } from '../../contracts/common';
import type { Database, Stored } from '../port/collection';

interface AttemptHandle extends Stored {
  /** SHA-256 of the handle as base64url. */
  hash: string;
  issuedAt: string;
  /** When it counts no more, whatever became of its attempt. */
  expiresAt?: string;
}

const sha256 = (handle: string): Buffer => createHash('sha256').update(handle).digest();

/** What a handle opens: children of the attempt, or the tools of its catalog. */
export type HandleKind = 'children' | 'tools';

const kinds = {
  children: { prefix: 'rbah', collection: 'attempt-handles' },
  tools: { prefix: 'rbtb', collection: 'tool-bridge-handles' },
} as const;

/**
 * The workspace unless it is `local`, the attempt and 256 random bits, in a shape that is redacted wherever it is recorded by
 * mistake.
 */
const newHandle = (prefix: string, workspaceId: string, attemptId: string): string =>
  `${prefix}_${workspaceId === localWorkspace ? '' : `${workspaceId}_`}${attemptId}_${randomBytes(32).toString('base64url')}`;

const shape = /^(rbah|rbtb)_(?:(ws-[a-z0-9]{4,32})_)?(attempt_[A-Za-z0-9]{8,26})_[A-Za-z0-9_-]{43}$/;

/** The workspace whose stores know a handle; undefined for what is none of this kind. */
export function workspaceOfHandle(handle: string, kind: HandleKind = 'children'): string | undefined {
  const found = shape.exec(handle);
  const parts = found?.[1] === kinds[kind].prefix ? found : undefined;
  return parts ? (parts[2] ?? localWorkspace) : undefined;
}

/** Credentials that agents act with in the name of their attempt, one for each. Only hashes are stored. */
export async function createAttemptHandleStore(
  db: Database,
  {
    workspaceId,
    kind = 'children',
    now = () => new Date(),
  }: { workspaceId: string; kind?: HandleKind; now?: () => Date },
) {
  const { prefix, collection: name } = kinds[kind];
  const handles = await db.collection<AttemptHandle>({ name });
  return {
    /** Issues the handle of an attempt whose agent is to be started; one before it counts no more. */
    async issue(attemptId: string, lifetimeMs?: number): Promise<string> {
      const handle = newHandle(prefix, workspaceId, attemptId);
      const at = now();
      const fields = { hash: sha256(handle).toString('base64url'), issuedAt: at.toISOString() };
      const expiry = lifetimeMs === undefined ? {} : { expiresAt: new Date(at.getTime() + lifetimeMs).toISOString() };
      await handles.findOneAndUpdate({ _id: attemptId }, { $set: { ...fields, ...expiry } }, { upsert: true });
      return handle;
    },

    /** Whose handle it is, compared in constant time; whether that attempt still has an agent is another question. */
    async attemptOf(handle: string): Promise<string | undefined> {
      const [, of, whose = localWorkspace, attemptId] = shape.exec(handle) ?? [];
      const isOwn = attemptId !== undefined && of === prefix && whose === workspaceId;
      const stored = isOwn ? await handles.get(attemptId) : undefined;
      if (stored?.expiresAt !== undefined && stored.expiresAt <= now().toISOString()) {
        return undefined;
      }
      return stored && timingSafeEqual(Buffer.from(stored.hash, 'base64url'), sha256(handle)) ? stored._id : undefined;
    },

    /** Nothing can be done with the handle of this attempt any more; without one it stays so. */
    revoke: (attemptId: string) => handles.deleteMany({ _id: attemptId }),
  };
}

export type AttemptHandleStore = Awaited<ReturnType<typeof createAttemptHandleStore>>;
