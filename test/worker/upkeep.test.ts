import type { AdmissionControl } from '../../activities/admission-control/dependencies';
import { createLog } from '../../platform/log/log';
import { eventually } from '../../platform/testing/eventually';
import { startUpkeep, type UpkeepDependencies } from '../../worker/upkeep';

test('leases that are set shorter are renewed in time by a host that rests for longer', async () => {
  const admission = { leaseMs: 30_000, heartbeatMs: 10_000 };
  const renewed: (string | null)[] = [];
  const nothing = () => Promise.resolve([]);
  const upkeep = await startUpkeep({
    hostId: 'here',
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
        active: nothing,
      },
    } as unknown as AdmissionControl,
    concurrency: 1,
    queues: [],
    log: createLog({ name: 'test', level: 'silent' }),
  });
  try {
    await eventually(() => expect(renewed).toEqual(['here', null]));
    Object.assign(admission, { leaseMs: 3_000, heartbeatMs: 500 });
    await eventually(() => expect(renewed.length).toBeGreaterThanOrEqual(6), { withinMs: 5_000 });
  } finally {
    await upkeep.close();
  }
});
