import { fork } from 'node:child_process';
import { join } from 'node:path';
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import { inParallel } from '../latency';
import { load, type Row, type Sample } from './samples';
import { launched } from './workflow';

/** A bare workflow with as many activities as a run has, on the same server. */
export async function measureFloor(
  temporalAddress: string,
  loads: readonly { callers: number; runs: number }[],
): Promise<Row[]> {
  const worker = fork(join(__dirname, 'worker.js'), {
    env: { ...process.env, TEMPORAL_ADDRESS: temporalAddress },
  });
  await new Promise((resolve) => worker.once('message', resolve));
  const connection = await Connection.connect({ address: temporalAddress });
  const client = new Client({ connection });
  const one = async (id: string): Promise<Sample> => {
    const startedAt = performance.now();
    const startWorkflowOperation = new WithStartWorkflowOperation('floor', {
      workflowId: id,
      taskQueue: 'floor',
      workflowIdConflictPolicy: 'FAIL',
    });
    await client.workflow.executeUpdateWithStart(launched, { startWorkflowOperation });
    const runningMs = performance.now() - startedAt;
    await client.workflow.getHandle(id).result();
    return { runningMs, doneMs: performance.now() - startedAt };
  };
  await inParallel(20, 5, async (n) => {
    await one(`floor/warm/${n}`);
  });
  const rows: Row[] = [];
  for (const { callers, runs } of loads) {
    rows.push(await load('bare workflow', { callers, times: runs }, (n) => one(`floor/${callers}/${n}`)));
  }
  await connection.close();
  worker.disconnect();
  await new Promise((resolve) => worker.once('exit', resolve));
  return rows;
}
