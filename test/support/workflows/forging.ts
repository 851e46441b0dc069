import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';

/** A worker of an attacker, who reaches Temporal and has no key. */
export interface Forger {
  /** Schedules an activity by a workflow that has the name and the id of the one of a run. */
  schedule(workflowId: string, activity: string, input: object): Promise<unknown>;
  close(): Promise<void>;
}

/** @param taskQueue of the worker that is attacked */
export async function startForger(
  { client, address, namespace }: { client: Client; address: string; namespace: string },
  taskQueue: string,
): Promise<Forger> {
  const connection = await NativeConnection.connect({ address });
  const own = `forger-${randomUUID()}`;
  const workflowsPath = require.resolve('./forged-workflow-run');
  const worker = await Worker.create({ connection, namespace, taskQueue: own, workflowsPath });
  const running = worker.run();
  return {
    schedule: (workflowId, activity, input) =>
      client.workflow.execute('workflowRun', {
        workflowId,
        taskQueue: own,
        args: [taskQueue, activity, input],
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'TERMINATE_EXISTING',
        workflowExecutionTimeout: '60 seconds',
      }),
    close: async () => {
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
}
