import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { floorHeld } from './workflow';

export interface Deaths {
  times: number;
  heartbeatTimeoutMs: number;
  backoffMs: number;
}

/** A process that is started at once when the one before was killed, as by the supervisor of the service. */
async function startWorker(temporalAddress: string): Promise<ChildProcess> {
  const worker = fork(join(__dirname, 'worker.js'), { env: { ...process.env, TEMPORAL_ADDRESS: temporalAddress } });
  await once(worker, 'message');
  return worker;
}

/** From the kill of a worker, in the middle of a bare activity, to the next try of that in another one, in milliseconds. */
export async function measureDeaths(temporalAddress: string, deaths: Deaths): Promise<number[]> {
  const connection = await Connection.connect({ address: temporalAddress });
  const client = new Client({ connection });
  let worker = await startWorker(temporalAddress);
  const samples: number[] = [];
  for (let n = 0; n < deaths.times; n += 1) {
    const held = once(worker, 'message');
    const handle = await client.workflow.start(floorHeld, {
      workflowId: `floor/death/${n}`,
      taskQueue: 'floor',
      args: [deaths],
    });
    await held;
    const startedAt = performance.now();
    worker.kill('SIGKILL');
    worker = await startWorker(temporalAddress);
    samples.push((await handle.result()) - performance.timeOrigin - startedAt);
  }
  await connection.close();
  worker.disconnect();
  await once(worker, 'exit');
  return samples;
}
