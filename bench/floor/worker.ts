import { NativeConnection, Worker } from '@temporalio/worker';
import { announceReady } from '../../platform/processes/parts/lifecycle';
import { floorActivities } from './activities';

/** A worker of the bare workflow, as a process of its own like the one it is compared with. */
async function main(): Promise<void> {
  const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS });
  const worker = await Worker.create({
    connection,
    taskQueue: 'floor',
    workflowsPath: require.resolve('./workflow'),
    activities: floorActivities,
  });
  process.once('disconnect', () => worker.shutdown());
  announceReady();
  await worker.run();
  await connection.close();
}

void main();
