import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { eventually } from '../../platform/testing/eventually';
import { adapterDeliveryId, type AdapterDeliveryInput } from '../../workflows/adapter-delivery/messages';
import { gate } from '../support/workflows/gate';
import { stubbedWorkers, Stubs, untilCancelled } from '../support/workflows/stubbed-workers';

describe("an operator's cancel of a delivery", () => {
  const workers = stubbedWorkers(['attemptAdapterDelivery', 'settleAdapterDelivery']);

  async function delivery(attemptAdapterDelivery: () => Promise<void>, heartbeatTimeoutMs = 30_000) {
    const deliveryId = `delivery_${randomUUID()}`;
    const stubs = new Stubs({ attemptAdapterDelivery, settleAdapterDelivery: async () => 'delivered' });
    workers.use(stubs, [deliveryId]);
    workers.terminateAfterwards(adapterDeliveryId(deliveryId));
    const timings = { firstPauseMs: 10, longestPauseMs: 10, giveUpAfterMs: 60_000, heartbeatTimeoutMs };
    const input: AdapterDeliveryInput = { deliveryId, timings };
    const handle = await workers.temporal.client.workflow.start('adapterDelivery', {
      workflowId: adapterDeliveryId(deliveryId),
      taskQueue: workers.boardQueue,
      args: [input],
    });
    await eventually(() => expect(stubs.names()).toContain('attemptAdapterDelivery'));
    return { handle, stubs };
  }

  const eventsOf = async (handle: WorkflowHandle) => (await handle.fetchHistory()).events ?? [];

  test('settles it once the attempt that is being made has its outcome', async () => {
    const sending = gate(undefined);
    const { handle, stubs } = await delivery(sending.wait);
    await handle.cancel();
    await eventually(async () => {
      const asked = (await eventsOf(handle)).some((event) => event.activityTaskCancelRequestedEventAttributes);
      expect(asked).toBe(true);
    });
    const scheduled = (await eventsOf(handle)).filter((event) => event.activityTaskScheduledEventAttributes);
    expect(scheduled).toHaveLength(1);
    sending.open();
    await expect(handle.result()).resolves.toBe('delivered');
    expect(stubs.names()).toEqual(['attemptAdapterDelivery', 'settleAdapterDelivery']);
  });

  test('makes no further attempt', async () => {
    const failing = async () => {
      await untilCancelled();
      throw new Error('not sent');
    };
    const { handle, stubs } = await delivery(failing);
    await handle.cancel();
    await handle.result();
    expect(stubs.names()).toEqual(['attemptAdapterDelivery', 'settleAdapterDelivery']);
  });

  test('waits for a lost worker no longer than for its heartbeat', async () => {
    const never = gate(undefined);
    const { handle, stubs } = await delivery(never.wait, 1_000);
    await handle.cancel();
    await handle.result();
    expect(stubs.names()).toEqual(['attemptAdapterDelivery', 'settleAdapterDelivery']);
  });
});
