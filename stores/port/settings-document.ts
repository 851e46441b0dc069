import { AppError } from '../../platform/errors/app-error';
import { isSameJson } from '../../platform/json/same';
import type { Collection, Database, Stored } from './collection';
import { StaleRevisionError } from './errors';
import { insertOnce } from './insert';

/** One setting of a board, and its revision; 0 while it was never set. */
export interface SettingsValue<T> {
  value: T | null;
  revision: number;
}

export interface SettingsDocument<T> {
  read(): Promise<SettingsValue<T>>;
  /** @throws StaleRevisionError when it is at another revision than the expected one */
  replace(value: T, expectedRevision?: number): Promise<SettingsValue<T> & { value: T }>;
}

interface Document<T> extends Stored {
  revision: number;
  value: T;
}

/** Writers of one document do not stay in each other's way for longer than this. */
const maxTries = 50;

/** A document that is read whole and written whole, by compare-and-set. The value is JSON that passed its contract. */
export async function openSettingsDocument<T>(db: Database, id: string): Promise<SettingsDocument<T>> {
  const settings: Collection<Document<unknown>> = await db.collection<Document<unknown>>({ name: 'settings' });

  async function write(value: T, seen: number): Promise<boolean> {
    if (seen > 0) {
      const written = await settings.findOneAndUpdate(
        { _id: id, revision: seen },
        { $set: { value }, $inc: { revision: 1 } },
      );
      return written !== undefined;
    }
    return insertOnce(settings, { _id: id, revision: 1, value });
  }

  return {
    async read() {
      const found = await settings.get(id);
      // What is read under this id is what was written under it.
      return found ? { value: found.value as T, revision: found.revision } : { value: null, revision: 0 };
    },
    async replace(value, expectedRevision) {
      for (let attempt = 0; attempt < maxTries; attempt += 1) {
        const current = await settings.get(id);
        const revision = current?.revision ?? 0;
        if (expectedRevision !== undefined && expectedRevision !== revision) {
          throw new StaleRevisionError('settings', id, {
            expectedRevision,
            current: { revision, shown: current?.value ?? null },
          });
        }
        if (current && isSameJson(current.value, value)) {
          return { value, revision };
        }
        if (await write(value, revision)) {
          return { value, revision: revision + 1 };
        }
      }
      throw new AppError('CONFLICT', {
        status: 409,
        message: 'Too many concurrent changes of this setting. Try again.',
      });
    },
  };
}
