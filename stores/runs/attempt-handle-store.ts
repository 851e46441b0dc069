import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { localWorkspace } from '../../contracts/common';
import type { VisibleProcess } from '../../platform/processes/identity';
import type { Database, Stored } from '../port/collection';

interface AttemptHandle extends Stored {
  /** SHA-256 of the handle as base64url. */
  hash: string;
  issuedAt: string;
  /** When it counts no more, whatever became of its attempt. */
  expiresAt?: string;
}

/** The worker process that supervises an attempt. */
type Supervisor = Pick<VisibleProcess, 'pid' | 'startTime' | 'bootId'>;

const sha256 = (handle: string): Buffer => createHash('sha256').update(handle).digest();

/** What a handle opens: children of the attempt, or the tools of its catalog. */
export type HandleKind = 'children' | 'tools';

const kinds = {
  children: { prefix: 'rbah', collection: 'attempt-handles', isBound: false },
  tools: { prefix: 'rbtb', collection: 'tool-bridge-handles', isBound: true },
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

/** The attempt that a handle names; undefined for what is none of this kind. */
export function attemptOfHandle(handle: string, kind: HandleKind): string | undefined {
  const found = shape.exec(handle);
  return found?.[1] === kinds[kind].prefix ? found[3] : undefined;
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
  const { prefix, collection: name, isBound } = kinds[kind];
  const handles = await db.collection<AttemptHandle>({ name });
  // Each supervisor has its own: one that slept through its lease does not replace that of the next.
  const idOf = (attemptId: string, supervisor: Supervisor | undefined): string =>
    isBound
      ? `${attemptId}/${supervisor ? [supervisor.bootId, supervisor.pid, supervisor.startTime].join('/') : ''}`
      : attemptId;

  return {
    /**
     * Issues the handle of an attempt whose agent is to be started or was adopted; one before it counts no more.
     *
     * @param bound.supervisor a handle for tools counts for as long as this process supervises the attempt
     */
    async issue(attemptId: string, bound?: { lifetimeMs: number; supervisor: Supervisor }): Promise<string> {
      const handle = newHandle(prefix, workspaceId, attemptId);
      const at = now();
      const fields = { hash: sha256(handle).toString('base64url'), issuedAt: at.toISOString() };
      const expiry = bound && { expiresAt: new Date(at.getTime() + bound.lifetimeMs).toISOString() };
      const _id = idOf(attemptId, bound?.supervisor);
      await handles.findOneAndUpdate({ _id }, { $set: { ...fields, ...expiry } }, { upsert: true });
      return handle;
    },

    /**
     * Whether a handle is that of the attempt that it names, compared in constant time; whether that attempt still has an agent is
     * another question.
     *
     * @param supervisor that of the attempt now
     */
    async verify(handle: string, supervisor: Supervisor | undefined): Promise<boolean> {
      const [, of, whose = localWorkspace, attemptId] = shape.exec(handle) ?? [];
      const isOwn = attemptId !== undefined && of === prefix && whose === workspaceId;
      const stored = isOwn ? await handles.get(idOf(attemptId, supervisor)) : undefined;
      if (!stored || (stored.expiresAt !== undefined && stored.expiresAt <= now().toISOString())) {
        return false;
      }
      return timingSafeEqual(Buffer.from(stored.hash, 'base64url'), sha256(handle));
    },

    /** Nothing can be done with a handle of this attempt any more; without one it stays so. */
    async revoke(attemptId: string): Promise<void> {
      await handles.deleteMany({ _id: attemptId });
      if (isBound) {
        await handles.deleteMany({ _id: { $gte: `${attemptId}/`, $lt: `${attemptId}0` } });
      }
    },
  };
}

export type AttemptHandleStore = Awaited<ReturnType<typeof createAttemptHandleStore>>;
