import type { BulkFailure } from '../../../contracts/tasks/bulk';
import { AppError } from '../../../platform/errors/app-error';
import { eachLimited } from '../../../stores/board-files/format/each-limited';

export interface BulkResult {
  /** In the order of the request. */
  done: string[];
  failed: BulkFailure[];
}

/** Each change waits for the disk; more at once only fill its queue. */
const atOnce = 8;

/**
 * Does the same to many tasks. A task that is refused does not stop the others; an unexpected error does, and what was done
 * stays done.
 */
export async function applyToMany(ids: readonly string[], work: (id: string) => Promise<unknown>): Promise<BulkResult> {
  const unique = [...new Set(ids)];
  const refusals = new Map<string, string>();
  await eachLimited(atOnce, unique, async (id) => {
    try {
      await work(id);
    } catch (error) {
      if (!(error instanceof AppError)) {
        throw error;
      }
      refusals.set(id, error.message);
    }
  });
  return {
    done: unique.filter((id) => !refusals.has(id)),
    failed: unique.flatMap((id) => {
      const error = refusals.get(id);
      return error === undefined ? [] : [{ id, error }];
    }),
  };
}
