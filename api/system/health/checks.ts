import { getHeapStatistics } from 'node:v8';
import type { Client } from '@temporalio/client';
import { freeBytes } from '../../../platform/processes/disk/free-space';
import type { Database } from '../../../stores/port/collection';
import type { HostStore } from '../../../stores/runs/hosts/host-store';

/** The result of a check that passed: facts for administrators, and what a person has to act on though requests are served. */
export interface HealthFinding {
  facts?: Record<string, unknown>;
  warning?: string | undefined;
}

/** Resolves when its subject can be relied on, and rejects with the reason when not. */
export type HealthCheck = () => Promise<HealthFinding | undefined>;

const heapCeiling = 0.95;
const mebibyte = 1_048_576;

/** A write and a read of the store work. */
export const storageCheck =
  (database: Database): HealthCheck =>
  async () => {
    await database.ping();
    return { facts: { kind: database.kind } };
  };

/** The server responds, which the first call of a lazy connection tests. */
export const temporalCheck =
  (client: Client, namespace: string): HealthCheck =>
  async () => {
    const { serverVersion } = await client.withDeadline(Date.now() + 2_000, () =>
      client.workflowService.getSystemInfo({}),
    );
    return { facts: { namespace, serverVersion } };
  };

/**
 * @param directory where board files and blobs are written
 * @param minFreeMb how much space has to be free there, in MiB
 */
export const diskCheck =
  (directory: string, minFreeMb: number): HealthCheck =>
  async () => {
    const free = await freeBytes(directory);
    if (free < minFreeMb * mebibyte) {
      throw new Error(`less than ${minFreeMb} MiB are free in ${directory}`);
    }
    return { facts: { freeMb: Math.floor(free / mebibyte), requiredMb: minFreeMb } };
  };

/** A worker that could run an agent in a worktree; without any worker there is nothing to say about git. */
export const gitCheck =
  (hosts: Pick<HostStore, 'findingsOf'>): HealthCheck =>
  async () => {
    const [finding] = await hosts.findingsOf('git');
    if (finding) {
      throw new Error(`no live worker has a usable git. ${finding.message} ${finding.remedy ?? ''}`);
    }
    return undefined;
  };

/** The heap is not about to be exhausted. */
export const memoryCheck = (): HealthCheck => async () => {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  if (used > limit * heapCeiling) {
    throw new Error(`the heap holds ${used} of at most ${limit} bytes`);
  }
  return { facts: { usedBytes: used, limitBytes: limit } };
};
