import { join } from 'node:path';
import type { AdmissionControl } from '../../activities/admission-control/dependencies';
import { createLog } from '../../platform/log/log';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { sampleRequest } from '../../runs/admission/sample-request';
import { createReservationStore } from '../../stores/reservation-store';
import { openSqlite } from '../../stores/sqlite/database';
import { reconcileReservations, startUpkeep, type UpkeepDependencies } from '../../worker/upkeep';

test('leases that are set shorter are renewed in time by a host that rests for longer', async () => {
  const admission = { leaseMs: 30_000, heartbeatMs: 10_000 };
  const renewed: (string | null)[] = [];
  const nothing = () => Promise.resolve([]);
  const upkeep = await startUpkeep({
    hostId: 'here',
    workerId: 'worker',
    process: { pid: 1, startTime: '', bootId: '', pidNamespace: '' },
    hosts: { announceWorker: nothing, withdrawWorker: nothing } as unknown as UpkeepDependencies['hosts'],
    attempts: { get: () => Promise.resolve(undefined) },
    // What one round calls of it, and nothing else.
    admission: {
      now: () => new Date(),
      settings: { current: () => Promise.resolve({ admission }) },
      queue: { isEmpty: () => Promise.resolve(true) },
      reservations: {
        runsOn: () => Promise.resolve(0),
        renew: (hostId: string | null) => Promise.resolve(void renewed.push(hostId)),
        expire: nothing,
        repair: () => Promise.resolve(0),
        active: () => [],
      },
    } as unknown as AdmissionControl,
    concurrency: 1,
    queues: [],
    log: createLog({ name: 'test', level: 'silent' }),
  });
  try {
    await eventually(() => expect(renewed).toEqual(['here', null]));
    Object.assign(admission, { leaseMs: 3_000, heartbeatMs: 500 });
    await eventually(() => expect(renewed.length).toBeGreaterThanOrEqual(6), { withinMs: 15_000 });
  } finally {
    await upkeep.close();
  }
});

test('what ended attempts hold is given back, however many of them there are', async () => {
  const dir = await makeTempDir('upkeep');
  const log = createLog({ name: 'test', level: 'silent' });
  const database = await openSqlite({ file: join(dir.path, 'board.sqlite'), log });
  try {
    const reservations = await createReservationStore(database);
    const longAgo = new Date('2026-01-01T00:00:00.000Z');
    const ids = Array.from({ length: 5 }, (_, index) => `attempt_ended00${index}`);
    for (const id of ids) await reservations.reserve(sampleRequest(id), [], longAgo, 1_000_000);
    const ended = { attempts: { get: () => Promise.resolve(undefined) }, admission: { reservations } };
    expect(await reconcileReservations(ended, new Date(), 2)).toBe(5);
    expect(await reservations.holders()).toEqual([]);
    expect(await reconcileReservations(ended, new Date(), 2)).toBe(0);
  } finally {
    await database.close();
    await dir.remove();
  }
});
