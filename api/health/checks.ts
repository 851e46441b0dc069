import { getHeapStatistics } from 'node:v8';
import type { Client } from '@temporalio/client';
import { freeBytes } from '../../platform/processes/free-space';
import type { Database } from '../../stores/collection';

/** Resolves when the thing it looks at can be relied on, and rejects with the reason when not. */
export type HealthCheck = () => Promise<void>;

const heapCeiling = 0.95;

export const storageCheck =
  (database: Database): HealthCheck =>
  () =>
    database.ping();

/** The server answers, which the first call of a lazy connection finds out. */
export const temporalCheck =
  (client: Client): HealthCheck =>
  async () => {
    await client.withDeadline(Date.now() + 2_000, () => client.workflowService.getSystemInfo({}));
  };

/**
 * @param directory where board files and blobs are written
 * @param minFreeMb how much space has to be left there, in MiB
 */
export const diskCheck =
  (directory: string, minFreeMb: number): HealthCheck =>
  async () => {
    const free = await freeBytes(directory);
    if (free < minFreeMb * 1_048_576) throw new Error(`less than ${minFreeMb} MiB are free in ${directory}`);
  };

export const memoryCheck = (): HealthCheck => async () => {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  if (used > limit * heapCeiling) throw new Error(`the heap holds ${used} of at most ${limit} bytes`);
};
