import { join } from 'node:path';
import { createAdapterDeliveryActivities } from '../../activities/adapter-delivery/activities';
import type { AdapterDelivery } from '../../contracts/chat/adapter-delivery';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { createAdapterDeliveryStore } from '../../stores/chat/adapter-delivery-store';
import type { Database } from '../../stores/port/collection';
import { openSqlite } from '../../stores/sqlite/database';

describe('a message to a team chat', () => {
  const at = new Date('2026-01-01T10:00:00.000Z');
  const later = (ms: number) => new Date(at.getTime() + ms);
  const requested: AdapterDelivery = {
    id: 'delivery_0123456789ab',
    ...{ adapterId: 'slack', kind: 'slack', state: 'pending', message: 'slowly', requestedBy: 'me', attempts: 0 },
    createdAt: at.toISOString(),
    updatedAt: at.toISOString(),
  };
  const limited = { reasonCode: 'rate-limited', error: 'The receiver responded with 429.', httpStatus: 429 };
  let dir: TempDir;
  let database: Database;
  beforeEach(async () => {
    dir = await makeTempDir('adapter-delivery');
    database = await openSqlite({
      file: join(dir.path, 'board.sqlite'),
      log: createLog({ name: 'test', level: 'silent' }),
    });
  });
  afterEach(async () => {
    await database.close();
    await dir.remove();
  });

  test('waits as long as a rate limit asks when the attempt that was limited is lost', async () => {
    let now = at;
    const adapterDeliveries = await createAdapterDeliveryStore(database, () => now);
    const { id: deliveryId } = await adapterDeliveries.request(requested);
    await adapterDeliveries.beginAttempt(deliveryId);
    await adapterDeliveries.noteProblem(deliveryId, { ...limited, retryAt: later(30_000).toISOString() });
    const unused = {} as Parameters<typeof createAdapterDeliveryActivities>[0];
    const activities = createAdapterDeliveryActivities({
      ...unused,
      adapterDeliveries,
      adapters: { get: () => Promise.resolve(undefined) } as unknown as typeof unused.adapters,
      now: () => now,
    });

    now = later(10_000);
    await expect(activities.attemptAdapterDelivery({ deliveryId })).rejects.toMatchObject({
      type: 'ADAPTER_DELIVERY_FAILED',
      message: 'rate-limited: the next attempt is at 2026-01-01T10:00:30.000Z',
      nonRetryable: false,
      nextRetryDelay: 20_000,
    });
    expect(await adapterDeliveries.get(deliveryId)).toMatchObject({ attempts: 1, reasonCode: 'rate-limited' });

    now = later(30_000);
    await expect(activities.attemptAdapterDelivery({ deliveryId })).rejects.toMatchObject({ nonRetryable: true });
    expect(await adapterDeliveries.get(deliveryId)).toMatchObject({ reasonCode: 'adapter-disabled' });
  });

  test('shows of its last attempt only what was noted of that', async () => {
    const adapterDeliveries = await createAdapterDeliveryStore(database, () => at);
    const { id } = await adapterDeliveries.request(requested);
    await adapterDeliveries.noteProblem(id, { ...limited, retryAt: later(1_000).toISOString() });
    const unreachable = { reasonCode: 'unreachable', error: 'The receiver did not respond.' };
    expect(await adapterDeliveries.noteProblem(id, unreachable)).toEqual({ ...requested, ...unreachable });
    expect(await adapterDeliveries.noteProblem(id, limited)).toEqual({ ...requested, ...limited });
  });
});
