import type { TransitionHooks } from '../../contracts/settings/transition-hook';
import { sampleTransitionHooks } from '../../domain/transitions/samples';
import type { Database } from '../port/collection';
import { StaleRevisionError } from '../port/errors';
import { openSettingsDocument } from '../port/settings-document';

/** Concurrent changes delay each other by this many tries only. */
const maxTries = 50;

/** The rules for changes of a task's status, with their revision; 0 while they were never set. */
export interface StoredTransitionHooks {
  value: TransitionHooks;
  revision: number;
}

/** The rules for changes of a task's status (specification 1, Settings). */
export async function createTransitionHookStore(db: Database) {
  const document = await openSettingsDocument<TransitionHooks>(db, 'transition-hooks');

  async function read(): Promise<StoredTransitionHooks> {
    const { value, revision } = await document.read();
    return { value: value ?? sampleTransitionHooks, revision };
  }

  return {
    read,

    /**
     * Replaces the rules by what `change` makes of the newest; `change` may run more than once.
     *
     * @throws StaleRevisionError when they are at another revision than the expected one; what `change` throws
     */
    async change(
      change: (current: TransitionHooks) => TransitionHooks,
      expectedRevision?: number,
    ): Promise<StoredTransitionHooks> {
      for (let attempt = 1; ; attempt += 1) {
        const { value, revision } = await read();
        try {
          return await document.replace(change(value), expectedRevision ?? revision);
        } catch (error) {
          if (expectedRevision !== undefined || !(error instanceof StaleRevisionError) || attempt === maxTries) {
            throw error;
          }
        }
      }
    },
  };
}

export type TransitionHookStore = Awaited<ReturnType<typeof createTransitionHookStore>>;
