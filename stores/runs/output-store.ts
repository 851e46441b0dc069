import type { CapturedOutput, OutputArtifact, QuarantineReason } from '../../contracts/runs/output';
import type { Database } from '../port/collection';
import { insertOnce } from '../port/insert';

/** An artifact, and whether its content is still there. */
export interface OutputArtifactRecord extends Omit<OutputArtifact, 'id'> {
  _id: string;
  hasBody: boolean;
}

/**
 * A reader of an artifact reads its content a moment later, and a writer of one refers to content that may exist already:
 * content younger than this is not removed, in milliseconds.
 */
const bodyRestMs = 60_000;

/** Output of runs that is too large for events: its metadata and its content. */
export async function createOutputArtifactStore(
  db: Database,
  { retentionMs, restMs = bodyRestMs }: { retentionMs: number; restMs?: number },
  now: () => Date = () => new Date(),
) {
  const artifacts = await db.collection<OutputArtifactRecord>({
    name: 'output-artifacts',
    indexes: [
      { keys: { attemptId: 1, createdAt: 1 } },
      { keys: { hasBody: 1, expiresAt: 1 } },
      { keys: { sha256: 1, hasBody: 1 } },
    ],
  });
  const blobs = await db.blobs('output');

  return {
    /** Stores what was captured; storing it again changes nothing. The record comes first: no content is without one. */
    async keep(source: { taskId: string; attemptId: string }, { id, body, ...facts }: CapturedOutput): Promise<void> {
      const at = now();
      await insertOnce(artifacts, {
        _id: id,
        schemaVersion: 'run-output-artifact/v1',
        taskId: source.taskId,
        runId: source.attemptId,
        attemptId: source.attemptId,
        ...facts,
        createdAt: at.toISOString(),
        expiresAt: new Date(at.getTime() + retentionMs).toISOString(),
        state: 'available',
        lease: { attemptId: source.attemptId },
        hasBody: true,
        revision: 1,
      });
      await blobs.put(body);
    },

    get: (id: string) => artifacts.get(id),

    /** @throws BlobMissingError */
    read: (sha256: string, range?: { offset?: number; length?: number }) => blobs.read(sha256, range),

    /** Withholds the content for good; `undefined` when it is not available any more. */
    quarantine: (id: string, reason: QuarantineReason) =>
      artifacts.findOneAndUpdate(
        { _id: id, state: 'available' },
        { $set: { state: 'quarantined', quarantine: { reason, at: now().toISOString() } }, $inc: { revision: 1 } },
      ),

    /** Artifacts whose time is over and whose content is still there, in the order in which it ended. */
    due: (after: string, limit: number) =>
      artifacts.find(
        { hasBody: true, expiresAt: { $gt: after, $lt: now().toISOString() } },
        { sort: { expiresAt: 1 }, limit },
      ),

    /**
     * Ends an artifact and removes its content, unless another one has the same. Interrupted, it is due again. Content
     * that was put a moment ago stays until the next time.
     *
     * @returns whether the content is gone
     */
    async expire({ _id, sha256 }: Pick<OutputArtifactRecord, '_id' | 'sha256'>): Promise<boolean> {
      await artifacts.findOneAndUpdate(
        { _id, state: 'available' },
        { $set: { state: 'expired' }, $inc: { revision: 1 } },
      );
      const shared = await artifacts.find({ sha256, hasBody: true, _id: { $ne: _id } }, { limit: 1 });
      if (shared.length === 0 && !(await blobs.remove(sha256, new Date(now().getTime() - restMs)))) {
        return false;
      }
      await artifacts.findOneAndUpdate({ _id }, { $set: { hasBody: false, lease: null }, $inc: { revision: 1 } });
      return true;
    },
  };
}

export type OutputArtifactStore = Awaited<ReturnType<typeof createOutputArtifactStore>>;

/** An artifact as callers see it. */
export function presentArtifact({ _id, hasBody: _hasBody, ...facts }: OutputArtifactRecord): OutputArtifact {
  return { ...facts, id: _id };
}
