import { createHash } from 'node:crypto';
import type { Filter } from 'mongodb';
import {
  type WorkProduct,
  workProductLimits,
  type WorkProductQuery,
  type WorkProductVersion,
} from '../../contracts/tasks/work-product';
import { compact } from '../../platform/json/compact';
import type { Page } from '../../platform/lists/page';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';
import { insertOnce, insertWithin } from '../port/insert';

/** A version, and the id that its content is stored under. */
export interface StoredVersion extends WorkProductVersion {
  id: string;
}

/** A work product with all its versions, the oldest first; there is one at least. */
export interface WorkProductRecord extends Stored, Omit<WorkProduct, 'id' | 'version' | 'format' | 'size' | 'sha256'> {
  versions: StoredVersion[];
}

/**
 * The content of a version. `pending` while only the record of the work product shows whether the version exists: content is
 * stored before its version is, and deleted after it.
 */
interface VersionContent extends Stored {
  productId: string;
  content: string;
  state: 'pending' | 'kept';
  since: string;
}

/** A change of a record is decided a moment after its content was stored: younger content is left alone, in milliseconds. */
const pendingRestMs = 600_000;
const settledAtOnce = 100;

/** Size and hash of a content, as its version states them. */
export function measured(content: string): Pick<WorkProductVersion, 'size' | 'sha256'> {
  const bytes = Buffer.from(content);
  return { size: bytes.length, sha256: `sha256:${createHash('sha256').update(bytes).digest('hex')}` };
}

const hasVersion = (record: WorkProductRecord | undefined, versionId: string): boolean =>
  record?.versions.some(({ id }) => id === versionId) === true;

/** Results of tasks, and the content of their versions. */
export async function createWorkProductStore(
  db: Database,
  { restMs = pendingRestMs }: { restMs?: number } = {},
  now: () => Date = () => new Date(),
) {
  const newest = { createdAt: -1, _id: -1 } as const;
  const filters = [
    {},
    { taskId: 1 },
    { kind: 1 },
    { attemptId: 1 },
    { taskId: 1, kind: 1 },
    { taskId: 1, attemptId: 1 },
    { attemptId: 1, kind: 1 },
    { taskId: 1, attemptId: 1, kind: 1 },
  ] as const;
  const products = await db.collection<WorkProductRecord>({
    name: 'work-products',
    indexes: filters.map((keys) => ({ keys: { ...keys, ...newest } })),
  });
  const contents = await db.collection<VersionContent>({
    name: 'work-product-contents',
    indexes: [{ keys: { productId: 1 } }, { keys: { state: 1, since: 1 } }],
  });

  const storePending = (productId: string, id: string, content: string): Promise<boolean> =>
    insertOnce<VersionContent>(contents, { _id: id, productId, content, state: 'pending', since: now().toISOString() });

  /** Marks the content of a version that exists; one that was taken for left over meanwhile is stored again. */
  async function confirm(productId: string, id: string, content: string): Promise<void> {
    const since = now().toISOString();
    if ((await contents.updateMany({ _id: id }, { $set: { state: 'kept', since } })) === 0) {
      await insertOnce<VersionContent>(contents, { _id: id, productId, content, state: 'kept', since });
    }
  }

  /** Deletes the content of a version that came about in no record. */
  const discard = (versionId: string): Promise<number> => contents.deleteMany({ _id: versionId, state: 'pending' });

  return {
    /**
     * Stores a work product of one version. The content comes first: what is listed has one.
     *
     * @returns whether it is stored; `false` when the task has as many as it may
     */
    async add(record: WorkProductRecord, content: string): Promise<boolean> {
      const bound = { among: { taskId: record.taskId }, max: workProductLimits.ofTask };
      for (const { id } of record.versions) {
        await storePending(record._id, id, content);
        if (!(await insertWithin(products, record, bound))) {
          await discard(id);
          return false;
        }
        await confirm(record._id, id, content);
      }
      return true;
    },

    get: (id: string): Promise<WorkProductRecord | undefined> => products.get(id),

    content: async (versionId: string): Promise<string | undefined> => (await contents.get(versionId))?.content,

    count: (taskId: string): Promise<number> => products.count({ taskId }),

    /** The newest first. */
    page: ({ limit, cursor, taskId, kind, attemptId }: WorkProductQuery): Promise<Page<WorkProductRecord>> => {
      const fixed = compact({ taskId, kind, attemptId });
      const filter: Filter<WorkProductRecord> = Object.keys(fixed).length === 0 ? { createdAt: { $gt: '' } } : fixed;
      return findPage(products, { filter, order: { key: 'createdAt', direction: -1 } }, { limit, cursor });
    },

    /**
     * Replaces a record that is at exactly the revision before; `content` is that of its newest version where that is new.
     *
     * @returns whether it was; another writer may have been first, and the content is still stored then
     */
    async replace(next: WorkProductRecord, content?: string): Promise<boolean> {
      const { _id, summary, ...rest } = next;
      const made = next.versions.at(-1);
      if (content !== undefined && made) {
        await storePending(_id, made.id, content);
      }
      const replaced = await products.findOneAndUpdate(
        { _id, revision: next.revision - 1 },
        summary === undefined ? { $set: rest, $unset: { summary: '' } } : { $set: { ...rest, summary } },
      );
      if (replaced && content !== undefined && made) {
        await confirm(_id, made.id, content);
      }
      return replaced !== undefined;
    },

    discard,

    /** Whether there was one, at this revision where one is given. Interrupted, the content is left to `settle`. */
    async remove(id: string, revision?: number): Promise<boolean> {
      await contents.updateMany({ productId: id }, { $set: { state: 'pending', since: now().toISOString() } });
      const removed = (await products.deleteMany({ _id: id, ...compact({ revision }) })) > 0;
      if (removed) {
        await contents.deleteMany({ productId: id });
      }
      return removed;
    },

    /** Deletes content of interrupted changes that no version has, a bounded part of it at a time. */
    async settle(): Promise<number> {
      const before = new Date(now().getTime() - restMs).toISOString();
      const due = await contents.find(
        { state: 'pending', since: { $lte: before } },
        { sort: { since: 1 }, limit: settledAtOnce },
      );
      let deleted = 0;
      for (const { _id, productId, since } of due) {
        if (hasVersion(await products.get(productId), _id)) {
          await contents.updateMany({ _id }, { $set: { state: 'kept' } });
        } else {
          deleted += await contents.deleteMany({ _id, state: 'pending', since });
        }
      }
      return deleted;
    },
  };
}

export type WorkProductStore = Awaited<ReturnType<typeof createWorkProductStore>>;
