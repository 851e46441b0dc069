import { getHeapStatistics } from 'node:v8';
import type { Client } from '@temporalio/client';
import { freeBytes } from '../../../platform/processes/disk/free-space';
import type { Database } from '../../../stores/port/collection';
import type { HostStore } from '../../../stores/runs/hosts/host-store';

/** Resolves when its subject can be relied on, and rejects with the reason when not. */
export type HealthCheck = () => Promise<void>;

const heapCeiling = 0.95;

export const storageCheck =
  (database: Database): HealthCheck =>
  () =>
    database.ping();

/** The server responds, which the first call of a lazy connection tests. */
export const temporalCheck =
  (client: Client): HealthCheck =>
  async () => {
    await client.withDeadline(Date.now() + 2_000, () => client.workflowService.getSystemInfo({}));
  };

/**
 * @param directory where board files and blobs are written
 * @param minFreeMb how much space has to be free there, in MiB
 */
export const diskCheck =
  (directory: string, minFreeMb: number): HealthCheck =>
  async () => {
    const free = await freeBytes(directory);
    if (free < minFreeMb * 1_048_576) {
      throw new Error(`less than ${minFreeMb} MiB are free in ${directory}`);
    }
  };

/** A worker that could run an agent in a worktree; without any worker there is nothing to say about git. */
export const gitCheck =
  (hosts: Pick<HostStore, 'findingsOf'>): HealthCheck =>
  async () => {
    const [finding] = await hosts.findingsOf('git');
    if (finding) {
      throw new Error(`no live worker has a usable git. ${finding.message} ${finding.remedy ?? ''}`);
    }
  };

export const memoryCheck = (): HealthCheck => async () => {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  if (used > limit * heapCeiling) {
    throw new Error(`the heap holds ${used} of at most ${limit} bytes`);
  }
};
