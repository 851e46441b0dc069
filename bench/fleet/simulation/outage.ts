import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from '../../latency';
import type { Parts } from './parts';
import type { Moment, openWitness } from './witness';

export interface Outage {
  killedAt: number;
  returnedAt: number;
  /** When none of them had capacity any more. */
  releasedAt: number;
  interrupted: { attemptId: string; taskId: string }[];
}

interface OutageOptions {
  hosts: ChildProcess;
  hostIds: ReadonlySet<string>;
  awayMs: number;
  control: Parts['control'];
  witness: ReturnType<typeof openWitness>;
  /** Starts the hosts again. */
  restart: () => Promise<void>;
}

/** Kills some hosts at once, has them back after a while, and reads meanwhile when their capacity was released. */
export async function cause({ hosts, hostIds, awayMs, control, witness, restart }: OutageOptions): Promise<Outage> {
  hosts.kill('SIGKILL');
  await once(hosts, 'exit');
  const killedAt = Date.now();
  const interrupted = runningAmong(witness.moments(), hostIds);
  const released = (async () => {
    const ids = interrupted.map(({ attemptId }) => attemptId);
    while ((await control.reservations.among(ids)).some(({ state }) => state === 'active')) {
      await delay(100);
    }
    return Date.now();
  })();
  await delay(awayMs);
  await restart();
  return { killedAt, returnedAt: Date.now(), releasedAt: await released, interrupted };
}

function runningAmong(moments: readonly Moment[], hostIds: ReadonlySet<string>): Outage['interrupted'] {
  const ended = new Set(moments.filter(({ what }) => what === 'ended').map(({ attemptId }) => attemptId));
  return moments.filter(
    ({ what, attemptId, hostId }) => what === 'started' && hostIds.has(hostId ?? '') && !ended.has(attemptId),
  );
}

/** The outage as a row of a table, in seconds. */
export function outageRow({ killedAt, returnedAt, releasedAt, interrupted }: Outage, moments: readonly Moment[]) {
  const starts = moments.filter(({ what, at }) => what === 'started' && at > killedAt);
  const again = interrupted.map(({ taskId }) => starts.find((moment) => moment.taskId === taskId)?.at ?? NaN);
  const seconds = (ms: number) => Math.round(ms / 100) / 10;
  return {
    interrupted: interrupted.length,
    'capacity released after s': seconds(releasedAt - killedAt),
    'hosts back after s': seconds(returnedAt - killedAt),
    'run again, s after they are back, p50': seconds(percentile(again, 0.5) - returnedAt),
    last: seconds(Math.max(...again) - returnedAt),
  };
}
