import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Log } from '../platform/log/log';
import { isGone } from '../platform/processes/identity';
import { failActivitiesOf } from '../platform/temporal/workers/lost-activities';
import type { HostStore } from '../stores/runs/hosts/host-store';
import { boardQueue } from '../workflows/queues';

export interface LostWorkerDependencies {
  hostId: string;
  /** This worker, which supervises the others. */
  workerId: string;
  hosts: Pick<HostStore, 'workersOf' | 'withdrawWorker'>;
  client: Client;
  log: Log;
}

/** How soon the death of another worker of the host is noticed, in milliseconds. */
const pollIntervalMs = 500;
/**
 * When the activities of a dead worker are listed again, in milliseconds after its death was noticed: a task may be dispatched
 * to a poll of it that the server has not yet closed, and a run that began last may not be listed at once.
 */
const againAfterMs = [1_000, 5_000];

/** The name of a worker process in Temporal's histories. */
export const workerIdentity = (workerId: string): string => `${process.pid}@${hostname()}/${workerId}`;

/** Whether a name in a history is that of a worker process. */
const isOf =
  (workerId: string) =>
  (identity: string): boolean =>
    identity.endsWith(`/${workerId}`);

/**
 * Resumes the activities of a dead worker of this host at once, instead of after their heartbeat timeout: they are failed in
 * its name, so that Temporal gives them to a worker that lives, or notifies the run. Whether a worker is dead is judged by its
 * process, and only where that can be seen: a paused one is not.
 */
export function watchForLostWorkers({ hostId, workerId, hosts, client, log }: LostWorkerDependencies) {
  const closing = new AbortController();
  /** The dead workers, and when their activities are due to be listed again. */
  const lost = new Map<string, number[]>();

  const fail = async (id: string): Promise<void> => {
    const failed = await failActivitiesOf(client, { taskQueue: boardQueue, isTheirs: isOf(id) });
    if (failed > 0) {
      log.warn({ workerId: id, activities: failed }, 'lost worker activities failed over');
    }
  };

  const look = async (): Promise<void> => {
    for (const [id, { process }] of Object.entries(await hosts.workersOf(hostId))) {
      if (id === workerId || lost.has(id) || !process || !(await isGone(process))) {
        continue;
      }
      log.warn({ workerId: id, workerPid: process.pid }, 'worker lost');
      await fail(id);
      const now = performance.now();
      lost.set(
        id,
        againAfterMs.map((ms) => now + ms),
      );
      // Only now: should this process die before, the next one finds it again.
      await hosts.withdrawWorker(hostId, id);
    }
    for (const [id, due] of lost) {
      if (due[0] === undefined || due[0] > performance.now()) {
        continue;
      }
      await fail(id);
      due.shift();
    }
  };

  const watch = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await look().catch((error: unknown) => log.warn({ err: error }, 'lost worker scan failed'));
      await delay(pollIntervalMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };

  const watching = watch();
  return {
    async close(): Promise<void> {
      closing.abort();
      await watching;
    },
  };
}
