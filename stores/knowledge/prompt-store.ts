import { maxFormerVersions, type Prompt, type PromptVersion } from '../../contracts/knowledge/prompt';
import { compact } from '../../platform/json/compact';
import type { Database, Stored } from '../port/collection';
import { createConfiguredRecords, type Recorded } from '../port/configured-records';
import { StaleRevisionError } from '../port/errors';
import { insertOnce } from '../port/insert';

/** What of a prompt is stored in its record. */
export interface PromptFields extends Omit<Prompt, keyof Recorded | 'variables'> {
  /** Names the prompt among all that had its id: a new one has no versions of a deleted one. */
  uid: string;
  /** When the current version was made. */
  versionAt: string;
}

interface VersionRecord extends Stored, PromptVersion {
  uid: string;
}

/** Writers of one prompt delay each other by this many tries only. */
const maxTries = 50;

const presentVersion = ({ promptId, version, content, changelog, createdAt }: PromptVersion): PromptVersion =>
  compact({ promptId, version, content, changelog, createdAt });

/** Prompts by id, and the versions of their content (specification 1, Mount list). */
export async function createPromptStore(db: Database) {
  const prompts = await createConfiguredRecords<PromptFields>(db, 'prompts');
  const versions = await db.collection<VersionRecord>({
    name: 'prompt-versions',
    indexes: [{ keys: { promptId: 1, uid: 1, version: 1 } }],
  });

  const currentVersion = ({ id, version, content, changelog, versionAt }: PromptFields & Recorded): PromptVersion =>
    compact({ promptId: id, version, content, changelog, createdAt: versionAt });

  /** Stores the current version among the former ones, which is no change of the prompt yet. */
  const retain = (current: PromptFields & Recorded): Promise<boolean> =>
    insertOnce(versions, { ...currentVersion(current), uid: current.uid, _id: `${current.uid}/${current.version}` });

  return {
    get: (id: string): Promise<(PromptFields & Recorded) | undefined> => prompts.get(id),
    /** All of them, by id. */
    list: (): Promise<(PromptFields & Recorded)[]> => prompts.list(),

    /** Makes a prompt, without what a deleted one of its id has left. @throws StaleRevisionError when the id is taken */
    async create(id: string, fields: PromptFields): Promise<PromptFields & Recorded> {
      const created = await prompts.create(id, fields);
      await versions.deleteMany({ promptId: id, uid: { $ne: created.uid } });
      return created;
    },

    /**
     * Replaces the fields of a prompt by what `change` makes of the newest. A version that is replaced is stored before: one that
     * nothing came of is the current one still.
     *
     * @throws StaleRevisionError when others write it all the time; what `change` throws
     */
    async change(
      id: string,
      change: (current: (PromptFields & Recorded) | undefined) => PromptFields,
    ): Promise<PromptFields & Recorded> {
      for (let attempt = 1; ; attempt += 1) {
        const current = await prompts.get(id);
        const next = change(current);
        try {
          if (current && next.version > current.version) {
            await retain(current);
          }
          const changed = await prompts.put(id, next, current?.revision ?? 0);
          const oldest = changed.version - maxFormerVersions;
          await versions.deleteMany({ promptId: id, uid: changed.uid, version: { $lt: oldest } });
          return changed;
        } catch (error) {
          if (!(error instanceof StaleRevisionError) || attempt === maxTries) {
            throw error;
          }
        }
      }
    },

    /** Whether there was one. @throws StaleRevisionError when it is at another revision than expected */
    async remove(id: string, expectedRevision?: number): Promise<boolean> {
      const removed = await prompts.remove(id, expectedRevision);
      if (removed) {
        await versions.deleteMany({ promptId: id });
      }
      return removed;
    },

    /** Every retained version, the current one first. */
    async versionsOf(current: PromptFields & Recorded): Promise<PromptVersion[]> {
      const filter = { promptId: current.id, uid: current.uid, version: { $lt: current.version } };
      const former = await versions.find(filter, { sort: { version: -1 }, limit: maxFormerVersions });
      return [currentVersion(current), ...former.map(presentVersion)];
    },
  };
}
