import { createHash } from 'node:crypto';
import type { Database } from '../../port/collection';
import { insertOnce } from '../../port/insert';

interface StoredResolution {
  _id: string;
  content: string;
  storedAt: string;
}

/** How long a text is stored: longer than an operation that uses it takes, in seconds. */
const lifetimeSeconds = 86_400;

/** Texts that files in conflict are resolved to, outside of workflow histories. The id names task and content. */
export async function createConflictResolutionStore(db: Database, now: () => Date = () => new Date()) {
  const resolutions = await db.collection<StoredResolution>({
    name: 'conflict-resolutions',
    expire: { field: 'storedAt', afterSeconds: lifetimeSeconds },
  });
  const idOf = (taskId: string, digest: string) => `${taskId}/${digest}`;
  return {
    /** Stores a text for a day; returns its hash. */
    async put(taskId: string, content: string): Promise<string> {
      const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
      const storedAt = now().toISOString();
      const _id = idOf(taskId, digest);
      if (!(await insertOnce(resolutions, { _id, content, storedAt }))) {
        await resolutions.findOneAndUpdate({ _id }, { $set: { storedAt } });
      }
      return digest;
    },
    /** `undefined` when it has expired. */
    async get(taskId: string, digest: string): Promise<string | undefined> {
      return (await resolutions.get(idOf(taskId, digest)))?.content;
    },
  };
}

export type ConflictResolutionStore = Awaited<ReturnType<typeof createConflictResolutionStore>>;
