import { createHash } from 'node:crypto';
import type { Database, Stored } from '../port/collection';

/**
 * What prevents the removal of a content: one hold for each attachment, also of tasks that are archived or deleted. `pending`
 * while only the task's file shows whether there is such an attachment, `released` once there is none.
 */
export interface AttachmentHold extends Stored {
  taskId: string;
  sha256: string;
  state: 'pending' | 'kept' | 'released';
  /** When it came into its state. */
  since: string;
}

/** What is stored of a file. */
export interface NewAttachment {
  id: string;
  taskId: string;
  content: Uint8Array;
  text: string | undefined;
}

/** The owner of a hold puts its content a moment later: content younger than this is not removed, in milliseconds. */
const contentRestMs = 60_000;

/** Contents of attachments, and their text. The metadata of an attachment is in the file of its task. */
export async function createAttachmentStore(
  db: Database,
  { restMs = contentRestMs }: { restMs?: number } = {},
  now: () => Date = () => new Date(),
) {
  const holds = await db.collection<AttachmentHold>({
    name: 'attachment-holds',
    indexes: [{ keys: { state: 1, since: 1 } }, { keys: { sha256: 1, state: 1 } }, { keys: { taskId: 1 } }],
  });
  const texts = await db.collection<Stored & { text: string }>({ name: 'attachment-texts' });
  // A store of its own: content of runs expires, and its cleanup ignores attachments.
  const blobs = await db.blobs('attachments');

  const enter = (state: AttachmentHold['state'], ids: readonly string[]): Promise<number> =>
    holds.updateMany({ _id: { $in: [...ids] } }, { $set: { state, since: now().toISOString() } });

  return {
    /**
     * Stores a content for an attachment that is about to be made. The hold comes first: no content is without one.
     *
     * @returns the hash that the content is read by
     */
    async add({ id, taskId, content, text }: NewAttachment): Promise<string> {
      const sha256 = `sha256:${createHash('sha256').update(content).digest('hex')}`;
      await holds.insert({ _id: id, taskId, sha256, state: 'pending', since: now().toISOString() });
      if (text !== undefined) {
        await texts.insert({ _id: id, text });
      }
      await blobs.put(content);
      return sha256;
    },

    /** The attachments are about to go: from now on the task's file shows whether they exist. */
    doubt: (ids: readonly string[]) => enter('pending', ids),

    /** The attachments are in the file of their task. */
    confirm: (ids: readonly string[]) => enter('kept', ids),

    /** The attachments are in no file any more; `remove` deletes their content. */
    release: (ids: readonly string[]) => enter('released', ids),

    /** The task is about to be gone for good, with all its attachments. */
    releaseOf: (taskId: string) =>
      holds.updateMany({ taskId }, { $set: { state: 'released', since: now().toISOString() } }),

    /** What is due to be removed, in the order in which it was released. */
    released: (after: string, limit: number) =>
      holds.find({ state: 'released', since: { $gt: after } }, { sort: { since: 1 }, limit }),

    /** Attachments pending since a time before `before`: neither confirmed nor released. */
    unconfirmed: (after: string, before: string, limit: number) =>
      holds.find({ state: 'pending', since: { $gt: after, $lt: before } }, { sort: { since: 1 }, limit }),

    /**
     * Removes a released attachment's remains: its content unless another one has the same. Content put a moment ago stays
     * until the next time.
     *
     * @returns whether nothing remains
     */
    async remove(id: string): Promise<boolean> {
      const hold = await holds.get(id);
      if (hold?.state !== 'released') {
        return hold === undefined;
      }
      const { sha256 } = hold;
      const [shared] = await holds.find({ sha256, state: { $in: ['pending', 'kept'] } }, { limit: 1 });
      if (!shared && !(await blobs.remove(sha256, new Date(now().getTime() - restMs)))) {
        return false;
      }
      await texts.deleteMany({ _id: id });
      await holds.deleteMany({ _id: id });
      return true;
    },

    text: async (id: string): Promise<string | undefined> => (await texts.get(id))?.text,

    /** Length of a content in bytes; `undefined` when it is not there. */
    size: (sha256: string) => blobs.size(sha256),

    /** @throws BlobMissingError */
    read: (sha256: string, range?: { offset?: number; length?: number }) => blobs.read(sha256, range),
  };
}

export type AttachmentStore = Awaited<ReturnType<typeof createAttachmentStore>>;
