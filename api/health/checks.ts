import { statfs } from 'node:fs/promises';
import { getHeapStatistics } from 'node:v8';
import type { Client } from '@temporalio/client';
import type { Database } from '../../stores/collection';

/** Resolves when the thing it looks at can be relied on, and rejects with the reason when not. */
export type HealthCheck = () => Promise<void>;

const minimumFreeBytes = 100 * 1_048_576;
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

/** @param directory where board files and blobs are written */
export const diskCheck =
  (directory: string): HealthCheck =>
  async () => {
    const { bavail, bsize } = await statfs(directory);
    if (bavail * bsize < minimumFreeBytes)
      throw new Error(`less than ${minimumFreeBytes} bytes are free in ${directory}`);
  };

export const memoryCheck = (): HealthCheck => async () => {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  if (used > limit * heapCeiling) throw new Error(`the heap holds ${used} of at most ${limit} bytes`);
};
