import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { isGone } from '../platform/processes/identity';
import type { Log } from '../platform/log/log';
import { failActivitiesOf } from '../platform/temporal/lost-activities';
import type { HostStore } from '../stores/host-store';
import { boardQueue } from '../workflows/queues';

export interface LostWorkerDependencies {
  hostId: string;
  /** This worker, which looks after the others. */
  workerId: string;
  hosts: Pick<HostStore, 'workersOf' | 'withdrawWorker'>;
  client: Client;
  log: Log;
}

/** How soon the death of another worker of the host is noticed, in milliseconds. */
const lookEveryMs = 500;
/**
 * When the activities of a dead worker are looked for again, in milliseconds after its death was noticed: a task may be
 * handed to a poll of it that the server has not yet found closed, and a run that began last may not be listed at once.
 */
const againAfterMs = [1_000, 5_000];

/** How a worker process is named in the histories of what it does. */
export const workerIdentity = (workerId: string): string => `${process.pid}@${hostname()}/${workerId}`;

/** Whether a name in a history is that of a worker process. */
const isOf =
  (workerId: string) =>
  (identity: string): boolean =>
    identity.endsWith(`/${workerId}`);

/**
 * Has what a dead worker of this host was at work on go on at once, instead of when its heartbeat has stayed away for long
 * enough: its activities are failed in its name, so that Temporal gives them to a worker that lives, or tells the run.
 * Whether a worker is dead is judged by its process, and only where that can be seen: a paused one is not.
 */
export function watchForLostWorkers({ hostId, workerId, hosts, client, log }: LostWorkerDependencies) {
  const closing = new AbortController();
  /** The workers found dead, and when their activities are due to be looked for again. */
  const lost = new Map<string, number[]>();

  const fail = async (id: string): Promise<void> => {
    const failed = await failActivitiesOf(client, { taskQueue: boardQueue, isTheirs: isOf(id) });
    if (failed > 0) log.warn({ workerId: id, activities: failed }, 'activities of a lost worker failed over');
  };

  const look = async (): Promise<void> => {
    for (const [id, { process }] of Object.entries(await hosts.workersOf(hostId))) {
      if (id === workerId || lost.has(id) || !process || !(await isGone(process))) continue;
      log.warn({ workerId: id, workerPid: process.pid }, 'a worker of this host is lost');
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
      if (due[0] === undefined || due[0] > performance.now()) continue;
      await fail(id);
      due.shift();
    }
  };

  const watch = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await look().catch((error: unknown) => log.warn({ err: error }, 'lost workers could not be looked for'));
      await delay(lookEveryMs, undefined, { signal: closing.signal }).catch(() => undefined);
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
